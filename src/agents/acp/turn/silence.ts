/**
 * Publishes the stderr of an agent that sends no updates: agents retry a failing model for minutes in silence.
 *
 * Stderr is checked every `everyMs`. New text (without `idleTalk`) is published, unless an update came since the last
 * check, or a question or call is open. The agent's next update removes the published text.
 */
import type { Timer, Timers } from '../calls/timers.ts'

export interface SilenceOptions {
  readonly timers: Timers
  /** Returns the end of the program's stderr, masked. */
  readonly stderrTail: () => string
  /** Returns true while a question or a call is open. Meanwhile no new text is published. */
  readonly isWaiting: () => boolean
  /** Matches lines of stderr that report no trouble. */
  readonly idleTalk: RegExp | undefined
  /** Publishes a text about trouble; undefined removes the published text. */
  readonly tell: (trouble: string | undefined) => void
  /** The time between two checks of stderr. Default 15 s. */
  readonly everyMs?: number | undefined
}

const troubleLimitChars = 300

export class Silence {
  readonly #options: SilenceOptions
  #tail: string
  #hasHeard = false
  #trouble: string | undefined
  #timer: Timer | undefined

  constructor(options: SilenceOptions) {
    this.#options = options
    this.#tail = options.stderrTail()
    this.#wait()
  }

  /** Records that the agent sent an update, and removes the published text. */
  heard(): void {
    this.#hasHeard = true
    this.#tell(undefined)
  }

  /** Stops the checks and removes the published text. Idempotent. */
  close(): void {
    this.#timer?.stop()
    this.#timer = undefined
    this.#tell(undefined)
  }

  #wait(): void {
    this.#timer = this.#options.timers.after(this.#options.everyMs ?? 15_000, () => {
      this.#look()
      this.#wait()
    })
  }

  #look(): void {
    const tail = this.#options.stderrTail()
    const complaint = tail === this.#tail ? '' : complaintIn(newPart(this.#tail, tail), this.#options.idleTalk)
    if (!this.#hasHeard && complaint !== '' && !this.#options.isWaiting()) this.#tell(complaint)
    this.#tail = tail
    this.#hasHeard = false
  }

  #tell(trouble: string | undefined): void {
    if (trouble === this.#trouble) return
    this.#trouble = trouble
    this.#options.tell(trouble)
  }
}

/** Returns the text in `now` after the last 200 characters of `before`; all of `now` if it lacks these characters. */
function newPart(before: string, now: string): string {
  if (before === '') return now
  if (now.startsWith(before)) return now.slice(before.length)
  const end = before.slice(-200)
  const at = now.lastIndexOf(end)
  return at === -1 ? now : now.slice(at + end.length)
}

function complaintIn(text: string, idleTalk: RegExp | undefined): string {
  const all = text.slice(-20_000).split('\n').map((line) => line.trim())
  const lines = all.filter((line) => line !== '' && idleTalk?.test(line) !== true)
  const words = lines.join('\n')
  return words.length <= troubleLimitChars ? words : `...${words.slice(3 - troubleLimitChars)}`
}
