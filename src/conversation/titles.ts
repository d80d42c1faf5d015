/**
 * A title for a conversation that has none (contract: conversations.md section 7).
 *
 * The first message of the user gives it. Where there is a model, that is asked in the background, and no run waits
 * for it; everywhere else, and where the model fails, the title is the message, shortened. One that the user sets
 * meanwhile stays. `close()` ends the asking.
 */
import { errorOf } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { formatMicros, type Clock } from '../base/stamp.ts'
import { untilAborted, within } from '../base/wait.ts'
import type { Message } from '../schema/generated/values.ts'
import type { TitleAnswer } from './agent.ts'
import type { Journal } from './journal.ts'
import { textIn } from './message-text.ts'

export interface TitlesOptions {
  readonly journal: Pick<Journal, 'state' | 'keep' | 'record' | 'durable'>
  readonly clock: Clock
  readonly diagnostics: Log
  /** Undefined, at once or later, when there is no model to be asked. */
  readonly ask: (text: string, signal: AbortSignal) => Promise<TitleAnswer | undefined> | undefined
  /** How long the model is waited for. Default 60 s. */
  readonly limitMs?: number
}

const defaultLimitMs = 60_000

export class Titles {
  readonly #options: TitlesOptions
  readonly #closed = new AbortController()
  #making: Promise<void> | undefined
  /** The user has chosen a title, or one has been made. */
  #isSettled = false

  constructor(options: TitlesOptions) {
    this.#options = options
  }

  /** Gives the title if this is the first message. No model is asked about one that no model may see. Returns at once. */
  begin(message: Message, { isShownToModels }: { readonly isShownToModels: boolean }): void {
    const { autotitle, title, last_user_message_id: last } = this.#options.journal.state
    if (!autotitle || title !== null || last !== null || this.#making !== undefined) return
    const text = textIn(message.content, ' ')
    const shortened = titleOf(text)
    if (shortened === undefined) return
    const asked = isShownToModels ? this.#options.ask(text, this.#closed.signal) : undefined
    if (asked === undefined) this.#settle(shortened)
    else this.#making = this.#make(asked, shortened)
  }

  /** The user has chosen a title. */
  chosen(): void {
    this.#isSettled = true
    this.#closed.abort(new Error('The title was chosen'))
  }

  /** Ends the asking; the title is then the message, shortened. Idempotent. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('The conversation is being closed'))
    await this.#making
  }

  async #make(asked: Promise<TitleAnswer | undefined>, shortened: string): Promise<void> {
    const { journal, diagnostics } = this.#options
    try {
      const answer = await this.#outcome(asked)
      const made = answer !== undefined && 'text' in answer ? titleOf(withoutQuotes(answer.text)) : undefined
      this.#settle(made ?? shortened)
      if (answer !== undefined && 'failure' in answer) {
        journal.record({ kind: 'ConversationErrorEvent', source: 'environment', ...answer.failure })
      }
      await journal.durable()
    } catch (thrown) {
      diagnostics.error('A title could not be recorded', { error: errorOf(thrown) })
    }
  }

  /** What came of the asking; undefined when nobody was asked, or it was ended from here. */
  async #outcome(asked: Promise<TitleAnswer | undefined>): Promise<TitleAnswer | undefined> {
    const { signal } = this.#closed
    const { diagnostics, limitMs = defaultLimitMs } = this.#options
    try {
      const answer = await within(untilAborted(asked, signal), limitMs)
      if (answer !== 'late') return answer
      this.#closed.abort(new Error('The title took too long'))
      return { failure: { code: 'LLMTimeoutError', detail: `The model made no title within ${limitMs / 1000} seconds` } }
    } catch (thrown) {
      if (!signal.aborted) diagnostics.error('A title could not be made', { error: errorOf(thrown) })
      return undefined
    }
  }

  #settle(title: string): void {
    if (this.#isSettled) return
    this.#isSettled = true
    const { journal, clock } = this.#options
    journal.keep(['patched', { at: formatMicros(Math.floor(clock() * 1000)), title }])
  }
}

/** In characters, as people count them. */
const lengthLimit = 50

/** How much of a text is looked at: a title is in its beginning, and a text may have many megabytes. */
const lookedAtChars = 2000

/** The text on one line, cut to 50 characters with `...` where it is longer. Undefined for a text without words. */
export function titleOf(text: string): string | undefined {
  const whole = text.trim()
  const line = whole.slice(0, lookedAtChars).replace(/\s+/g, ' ').trim()
  if (line === '') return undefined
  const characters = [...line]
  const isWhole = whole.length <= lookedAtChars && characters.length <= lengthLimit
  return isWhole ? line : `${characters.slice(0, lengthLimit - 3).join('')}...`
}

/** Models like to put a title in quotes. A long text is none, and this would take the square of its length. */
function withoutQuotes(text: string): string {
  return text.length > lookedAtChars ? text : text.trim().replace(/^(["'`*]+)([^"'`*]*)\1$/, '$2')
}
