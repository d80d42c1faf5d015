/** The changes of conversations that are under way (create, close, delete): one at a time for each id. */

export class Changes {
  readonly #running = new Map<string, Promise<unknown>>()

  has(id: string): boolean {
    return this.#running.has(id)
  }

  /**
   * Resolves when the change of this id that is under way has ended. Another change may have begun since: wait until
   * `has` is false, and then act without an `await`.
   */
  async end(id: string): Promise<void> {
    await this.#running.get(id)?.catch(() => undefined) // Its caller gets the error.
  }

  /** Resolves when the changes that are under way now have ended. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#running.values()) // Their callers get the errors.
  }

  /** Runs `work`, while no other change of this id is under way. */
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
