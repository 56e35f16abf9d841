/**
 * What was opened one after another and is closed in reverse: the later may still need the earlier.
 * A part that fails to close does not keep the others open.
 */
export class Opened implements AsyncDisposable {
  readonly #parts: AsyncDisposable[] = []

  use<Part extends AsyncDisposable>(part: Part): Part {
    this.#parts.push(part)
    return part
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const faults: unknown[] = []
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      try {
        await part[Symbol.asyncDispose]()
      } catch (error) {
        faults.push(error)
      }
    }
    if (faults.length > 0) throw new AggregateError(faults, 'not everything could be closed')
  }
}

/** Opens a whole of several parts, or nothing: what was opened before a failure is closed again. */
export const openAll = async <Whole>(open: (opened: Opened) => Promise<Whole>): Promise<Whole> => {
  const opened = new Opened()
  try {
    return await open(opened)
  } catch (error) {
    await opened[Symbol.asyncDispose]()
    throw error
  }
}
