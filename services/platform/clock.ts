/**
 * Time, as the product knows it: everything a person could notice (order, expiry, back-off, due
 * times) is judged by this clock, so that a test can turn it by hand. Time-outs of sockets and the
 * garbage collection of engines run on real time instead.
 */
export interface Clock {
  /** ms since 1970. May step back: nothing may rely on it being monotonic. */
  now(): number
  /** Resolves `ms` from now, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export class SystemClock implements Clock {
  now(): number {
    return Date.now()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const finish = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', finish)
        resolve()
      }
      const timer = setTimeout(finish, ms)
      signal?.addEventListener('abort', finish, { once: true })
    })
  }
}
