/** Tracks the changes that are under way: a creation, a close or a deletion, at most one for each conversation. */

export class Changes {
  readonly #running = new Map<string, Promise<unknown>>()

  has(id: string): boolean {
    return this.#running.has(id)
  }

  /**
   * Resolves when the change of this conversation that is under way has ended. Another change may have begun by then:
   * call this method again while `has` is true.
   */
  async end(id: string): Promise<void> {
    await this.#running.get(id)?.catch(() => undefined) // The caller of `run` gets the error.
  }

  /** Resolves when the changes under way have ended. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running.values()) // The callers of `run` get the errors.
  }

  /** Runs `work`, which changes the conversation `id`. Call it only when `has` is false. */
  async run<T>(id: string, work: () => Promise<T>): Promise<T> {
    const running = work()
    this.#running.set(id, running)
    try {
      return await running
    } finally {
      this.#running.delete(id)
    }
  }
}
