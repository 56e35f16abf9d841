/**
 * The wish of the system that the program ends. The first SIGTERM or SIGINT asks it to stop in order
 * and starts a clock; when that runs out, or on a second signal, the process ends as it is.
 */
export interface SignalledProcess {
  on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  exit(code: number): never
}

export class StopSignals {
  /** Aborts on the first signal. */
  readonly signal: AbortSignal
  readonly asked: Promise<void>

  constructor(process: SignalledProcess, drainMs: () => number) {
    const asked = new AbortController()
    this.signal = asked.signal
    this.asked = new Promise((resolve) => {
      asked.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const listener = () => {
      if (asked.signal.aborted) process.exit(1)
      asked.abort()
      setTimeout(() => process.exit(1), drainMs()).unref()
    }
    process.on('SIGTERM', listener)
    process.on('SIGINT', listener)
  }
}
