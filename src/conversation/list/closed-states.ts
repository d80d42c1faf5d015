/**
 * A cache of the states of closed conversations, as JSON text.
 *
 * Beyond the size limit, the least recently used states are dropped.
 */
import { parseState, peekState } from '../log/state-cache.ts'
import type { ConversationState } from '../log/state.ts'

export interface ClosedStatesOptions {
  /** The most characters of all cached states together. Default: 32 Mi. */
  readonly limitCharacters?: number
}

export class ClosedStates {
  readonly #limitCharacters: number
  /** States as JSON by conversation id, least recently used first. */
  readonly #texts = new Map<string, string>()
  /** By conversation id, a symbol for the newest unfinished read of the state from disk. Only its result is cached. */
  readonly #readings = new Map<string, symbol>()
  #characters = 0

  constructor({ limitCharacters = 32 * 1024 * 1024 }: ClosedStatesOptions = {}) {
    this.#limitCharacters = limitCharacters
  }

  get characters(): number {
    return this.#characters
  }

  /** Returns a conversation's state from this cache, or else from disk (`peekState`); undefined if neither has it. */
  async read(id: string, directory: string): Promise<ConversationState | undefined> {
    const text = this.#texts.get(id)
    if (text !== undefined) {
      this.#texts.delete(id)
      this.#texts.set(id, text)
      return parseState(text)
    }
    const reading = Symbol(id)
    this.#readings.set(id, reading)
    const state = await peekState(directory)
    if (this.#readings.get(id) === reading) {
      this.#readings.delete(id)
      if (state !== undefined) this.#keep(id, JSON.stringify(state))
    }
    return state
  }

  /** Drops a conversation's state; a read under way is not cached. Call it before the state changes or is removed. */
  forget(id: string): void {
    this.#readings.delete(id)
    this.#characters -= this.#texts.get(id)?.length ?? 0
    this.#texts.delete(id)
  }

  #keep(id: string, text: string): void {
    this.#texts.set(id, text)
    this.#characters += text.length
    for (const oldest of this.#texts.keys()) {
      if (this.#characters <= this.#limitCharacters) break
      this.forget(oldest)
    }
  }
}
