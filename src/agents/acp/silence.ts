/**
 * Shows the trouble that an agent reports on stderr while it sends nothing on stdout: agents retry a failing model
 * for minutes without an update.
 *
 * It checks from time to time, so a flood on stderr costs nothing. Text that is new since the last check, and came
 * while the agent was silent, is published, cut; it is removed with the agent's next update. The stderr given here is
 * masked.
 */
import type { Timer, Timers } from './timers.ts'

export interface SilenceOptions {
  readonly timers: Timers
  /** The end of what the program wrote to stderr, masked. */
  readonly stderrTail: () => string
  /** True while a question or a call is open: the agent is not silent then. */
  readonly isWaiting: () => boolean
  /** Lines that report no trouble. */
  readonly idleTalk: RegExp | undefined
  /** Publishes trouble; undefined once the agent sends updates again. */
  readonly tell: (trouble: string | undefined) => void
  /** How often it checks. Default 15 s. */
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

  /** Notes that the agent sent an update. */
  heard(): void {
    this.#hasHeard = true
    this.#tell(undefined)
  }

  /** Stops the checks and takes back the trouble that was told. Idempotent. */
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

/** The text after the end of the earlier tail, as far as it can be found: a long tail has lost its beginning. */
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
