/** Anything that lasts longer than two seconds says what it waits for and for how long already. */
import { setTimeout as delay } from 'node:timers/promises'

export type Report = (line: string) => void

export const silent: Report = () => undefined

const firstNoticeMs = 2_000
const noticeEveryMs = 5_000

export function secondsSince(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
}

export interface Narration {
  readonly report: Report
  /** Read at each notice, so that it can carry a count. */
  readonly label: () => string
}

export async function narrated<T>(narration: Narration, work: Promise<T>): Promise<T> {
  const startedAt = performance.now()
  const notice = () => narration.report(`${narration.label()} (${secondsSince(startedAt)})`)
  let repeat: NodeJS.Timeout | undefined
  const first = setTimeout(() => {
    notice()
    repeat = setInterval(notice, noticeEveryMs)
  }, firstNoticeMs)
  try {
    return await work
  } finally {
    clearTimeout(first)
    clearInterval(repeat)
  }
}

export interface Patience {
  readonly limitMs: number
  readonly everyMs: number
}

/** Polls until `done` holds. False when the time is up: the caller knows what to say about it. */
export async function eventually(
  patience: Patience,
  done: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const deadline = performance.now() + patience.limitMs
  while (!(await done())) {
    if (performance.now() >= deadline) return false
    await delay(patience.everyMs)
  }
  return true
}
