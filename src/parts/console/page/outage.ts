/**
 * The bar that shows an outage, with the time to the next attempt and the button `Try now`.
 *
 * While the server does not answer, the bar says so. Otherwise it tells about an interruption of the socket of the
 * shown conversation.
 */
import { element, fill } from './dom.ts'

/** The state of the page's attempts to connect again. */
export interface Wait {
  /** The time of the next attempt in milliseconds since the epoch; while an attempt runs, a past time or undefined. */
  readonly retryAt: number | undefined
  /** Makes the next attempt at once. */
  readonly retry: () => void
}

const serverWords = 'The server does not answer. What the page shows and what you write stays.'
const conversationWords = 'This conversation is not connected. What it shows can be old.'

export class Outage {
  readonly root = element('div', { class: 'away' })
  /** Called when the server answers again. The outage is assumed to have begun at `awaySince` (`performance.now`). */
  readonly #onBack: (awaySince: number) => void
  readonly #words = element('p', { role: 'status' })
  readonly #rest = element('span', { class: 'away-rest' })
  readonly #countdown = element('span', { class: 'countdown' })
  readonly #button = element('button', { type: 'button', class: 'small', onclick: () => this.#retry() }, 'Try now')
  readonly #clock: number
  #state: 'unknown' | 'here' | 'away' = 'unknown'
  #awaySince = 0
  #server: Wait | undefined
  #conversation: Wait | undefined
  #said = ''

  constructor(onBack: (awaySince: number) => void) {
    this.#onBack = onBack
    fill(this.root, this.#words, this.#rest)
    this.#clock = setInterval(() => this.#tick(), 500)
  }

  /** Ends the outage, if there is one. Called when the server answers. */
  serverAnswers(): void {
    const wasAway = this.#state === 'away'
    this.#state = 'here'
    this.#server = undefined
    this.#show()
    if (!wasAway) return
    if (this.#conversation?.retryAt !== undefined) this.#conversation.retry()
    this.#onBack(this.#awaySince)
  }

  /** Called when the stream of changes ends. The next attempt to open the stream shows whether the server answers. */
  serverUnknown(): void {
    if (this.#state === 'here') this.#state = 'unknown'
  }

  /** Called when the server does not answer. If an outage begins with this call, `awayMs` is its assumed age. */
  serverAway(wait: Wait, awayMs: number): void {
    if (this.#state !== 'away') this.#awaySince = performance.now() - awayMs
    this.#state = 'away'
    this.#server = wait
    this.#show()
  }

  /** Sets the state of the attempts to reopen the shown conversation's socket; undefined when no attempt is needed. */
  conversation(wait: Wait | undefined): void {
    this.#conversation = wait
    this.#show()
  }

  close(): void {
    clearInterval(this.#clock)
    document.body.classList.remove('is-away')
  }

  #show(): void {
    const words = this.#wantedWords()
    document.body.classList.toggle('is-away', this.#state === 'away')
    if (words !== this.#said) {
      this.#said = words
      fill(this.#words, words)
      const isFocused = this.#rest.contains(document.activeElement)
      fill(this.#rest, words !== '' && [this.#countdown, this.#button])
      if (isFocused) (this.#button.isConnected ? this.#button : document.querySelector<HTMLElement>('#main'))?.focus()
    }
    this.#tick()
  }

  #wantedWords(): string {
    if (this.#state === 'away') return serverWords
    if (this.#conversation === undefined) return ''
    // In the state `unknown`, the bar keeps its words until the page knows whether the server is away.
    return this.#state === 'unknown' ? this.#said : conversationWords
  }

  #tick(): void {
    if (this.#said === '') return
    const { retryAt } = (this.#state === 'away' ? this.#server : this.#conversation) ?? {}
    const left = retryAt === undefined ? 0 : Math.ceil((retryAt - Date.now()) / 1000)
    const words = left > 0 ? `Trying again in ${left} s` : 'Trying again …'
    if (this.#countdown.textContent !== words) fill(this.#countdown, words)
  }

  #retry(): void {
    this.#server?.retry()
    this.#conversation?.retry()
  }
}
