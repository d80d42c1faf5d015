/**
 * States of conversations that are not open, for lists that are asked for again and again.
 *
 * Read from the conversation's folder (conversation/state-cache) and kept as JSON text, the size of which is known;
 * together they keep to a limit, and what was not asked for the longest goes first. Nobody but an open conversation
 * changes its state: who opens one says `forget`, and a reading that was under way then is not kept.
 */
import { parseState, peekState } from './state-cache.ts'
import type { ConversationState } from './state.ts'

export interface ClosedStatesOptions {
  /** 32 Mi unless told: about 10,000 conversations. */
  readonly limitCharacters?: number
}

export class ClosedStates {
  readonly #limitCharacters: number
  /** Least recently asked for first: a Map keeps the order in which its members were added. */
  readonly #texts = new Map<string, string>()
  /** The newest reading of each conversation that is being read. */
  readonly #readings = new Map<string, symbol>()
  #characters = 0

  constructor({ limitCharacters = 32 * 1024 * 1024 }: ClosedStatesOptions = {}) {
    this.#limitCharacters = limitCharacters
  }

  get characters(): number {
    return this.#characters
  }

  /** As `peekState`. */
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

  /** To be called before the state of a conversation can change, and when it is gone. */
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
