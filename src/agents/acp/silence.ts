/**
 * Shows what an agent complains of on stderr while it says nothing on stdout: agents try a failing model again for minutes
 * without a word.
 *
 * It looks from time to time, so that a flood on stderr costs nothing. What is new there since the last look, and came
 * while the agent was silent, is told, cut; it is taken back with the agent's next word. What is given here is masked.
 */
import type { Timer, Timers } from './timers.ts'

export interface SilenceOptions {
  readonly timers: Timers
  /** The end of what the program wrote to stderr, masked. */
  readonly stderrTail: () => string
  /** True while somebody else has the word: the agent is not silent then. */
  readonly isWaiting: () => boolean
  /** Lines that tell of no trouble. */
  readonly idleTalk: RegExp | undefined
  /** Tells of trouble; undefined once the agent speaks again. */
  readonly tell: (trouble: string | undefined) => void
  /** How often it looks. Default 15 s. */
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

  /** The agent has said something. */
  heard(): void {
    this.#hasHeard = true
    this.#tell(undefined)
  }

  /** Nobody listens to it any more. Idempotent. */
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

/** What came behind the end of before, as far as it can be told: of a long tail the beginning is gone. */
function newPart(before: string, now: string): string {
  if (before === '') return now
  if (now.startsWith(before)) return now.slice(before.length)
  const end = before.slice(-200)
  const at = now.lastIndexOf(end)
  return at === -1 ? now : now.slice(at + end.length)
}

function complaintIn(text: string, idleTalk: RegExp | undefined): string {
  const lines = text.slice(-20_000).split('\n').map((line) => line.trim()).filter((line) => line !== '' && idleTalk?.test(line) !== true)
  const words = lines.join('\n')
  return words.length <= troubleLimitChars ? words : `...${words.slice(3 - troubleLimitChars)}`
}
