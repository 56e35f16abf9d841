/**
 * Reads what `strace -f -y -o` wrote. A call that another thread's call interrupts stands on two
 * lines, `… <unfinished ...>` and `<... resumed>`; here it is one, with where it began and ended.
 */
export interface SystemCall {
  readonly name: string
  /** As strace prints it, file descriptors with their paths. */
  readonly text: string
  /** Lines of the trace: an order that holds over all threads. */
  readonly begins: number
  readonly ends: number
}

const WHOLE = /^(\d+) +(\w+)\((.*)\) += /
const BEGINNING = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/
const REST = /^(\d+) +<\.\.\. (\w+) resumed>/

export const parseTrace = (trace: string): SystemCall[] => {
  const calls: SystemCall[] = []
  const begun = new Map<string, Omit<SystemCall, 'ends'>>()
  for (const [line, content] of trace.split('\n').entries()) {
    const [, thread = '', name = '', text = ''] =
      WHOLE.exec(content) ?? BEGINNING.exec(content) ?? []
    if (WHOLE.test(content)) calls.push({ name, text, begins: line, ends: line })
    else if (BEGINNING.test(content)) begun.set(thread, { name, text, begins: line })
    const ended = begun.get(REST.exec(content)?.[1] ?? '')
    if (ended && REST.test(content)) calls.push({ ...ended, ends: line })
  }
  return calls.sort((a, b) => a.begins - b.begins)
}

/**
 * Whether calls that match the steps follow one another, each begun when the one before had ended,
 * all before the call `before` began. The earliest that fits each step is taken.
 */
export const inOrder = (
  calls: readonly SystemCall[],
  before: SystemCall,
  steps: readonly ((call: SystemCall) => boolean)[],
): boolean => {
  let from = -1
  for (const step of steps) {
    const found = calls.find((call) => call.begins > from && step(call))
    if (!found || found.ends >= before.begins) return false
    from = found.ends
  }
  return true
}
