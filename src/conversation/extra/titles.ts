/**
 * Gives a title to a conversation that has `autotitle` and no title yet (contract/conversations.md, section 7).
 *
 * A model makes the title from the first user message. If no model does, the title is the shortened message.
 */
import { errorOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { formatMicros, type Clock } from '../../base/stamp.ts'
import { untilAborted, within } from '../../base/wait.ts'
import type { Message } from '../../schema/generated/values.ts'
import type { TitleAnswer } from '../agent/agent.ts'
import type { Asides } from './asides.ts'
import type { Journal } from '../log/journal.ts'
import { textIn } from '../log/message-text.ts'

export interface TitlesOptions {
  readonly journal: Pick<Journal, 'state' | 'keep' | 'record' | 'durable'>
  readonly clock: Clock
  readonly diagnostics: Log
  readonly asides: Pick<Asides, 'makeTitle'>
  /** The longest wait for the model, in milliseconds. Default: 60,000. */
  readonly limitMs?: number
}

const defaultLimitMs = 60_000

export class Titles {
  readonly #options: TitlesOptions
  readonly #closed = new AbortController()
  #making: Promise<void> | undefined
  /** True once the user has chosen a title or this class has set one. */
  #isSettled = false

  constructor(options: TitlesOptions) {
    this.#options = options
  }

  /** Makes a title from the first message, if `autotitle` is set. Asks no model if `isShownToModels` is false. */
  begin(message: Message, { isShownToModels }: { readonly isShownToModels: boolean }): void {
    const { autotitle, title, last_user_message_id: last } = this.#options.journal.state
    if (!autotitle || title !== null || last !== null || this.#making !== undefined) return
    const text = textIn(message.content, ' ')
    const shortened = titleOf(text)
    if (shortened === undefined) return
    const asked = isShownToModels ? this.#options.asides.makeTitle(text, this.#closed.signal) : undefined
    if (asked === undefined) this.#settle(shortened)
    else this.#making = this.#make(asked, shortened)
  }

  /** Notes that the user set a title: the title stays, and the request to the model ends. */
  chosen(): void {
    this.#isSettled = true
    this.#closed.abort(new Error('The title was chosen'))
  }

  /** Ends the request to the model, if any: then the shortened message becomes the title, unless the user chose one. */
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

  /** Returns the answer of `asked`; a `failure` at the time limit; undefined if `asked` fails or `#closed` aborts. */
  async #outcome(asked: Promise<TitleAnswer | undefined>): Promise<TitleAnswer | undefined> {
    const { signal } = this.#closed
    const { diagnostics, limitMs = defaultLimitMs } = this.#options
    try {
      const answer = await within(untilAborted(asked, signal), limitMs)
      if (answer !== 'late') return answer
      this.#closed.abort(new Error('The title took too long'))
      const detail = `The model made no title within ${limitMs / 1000} seconds`
      return { failure: { code: 'LLMTimeoutError', detail } }
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

/** The longest title, in Unicode code points. */
const lengthLimit = 50

/** The most characters of a text that a title is made from. The quotes of a longer text are not removed. */
const lookedAtChars = 2000

/** Returns the text on one line. Cuts it to 47 characters and `...` if it has more than 50. Undefined without text. */
export function titleOf(text: string): string | undefined {
  const whole = text.trim()
  const line = whole.slice(0, lookedAtChars).replace(/\s+/g, ' ').trim()
  if (line === '') return undefined
  const characters = [...line]
  const isWhole = whole.length <= lookedAtChars && characters.length <= lengthLimit
  return isWhole ? line : `${characters.slice(0, lengthLimit - 3).join('')}...`
}

/**
 * Removes white space around a title. Also removes the same quotes, backticks or asterisks on both sides, if none are
 * inside. A long text stays unchanged, because the expression takes quadratic time.
 */
function withoutQuotes(text: string): string {
  return text.length > lookedAtChars ? text : text.trim().replace(/^(["'`*]+)([^"'`*]*)\1$/, '$2')
}
