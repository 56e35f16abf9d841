/** What a test opened, to be closed in reverse order: `AsyncDisposableStack`, which Node 20 lacks. */
export class Belongings implements AsyncDisposable {
  readonly #owned: AsyncDisposable[] = []

  use<Owned extends AsyncDisposable>(owned: Owned): Owned {
    this.#owned.push(owned)
    return owned
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (let owned = this.#owned.pop(); owned; owned = this.#owned.pop()) {
      await owned[Symbol.asyncDispose]()
    }
  }
}
