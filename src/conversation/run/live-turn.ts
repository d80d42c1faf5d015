/**
 * Receives the reports of an agent's current turn: implements `Turn`.
 *
 * Reports after the end of the turn are dropped (decisions 16). When the log refuses a report, the turn is aborted.
 */
import type { EventDraft, MessageEvent } from '../../schema/generated/events.ts'
import type { MaskingStream } from '../../base/masking.ts'
import type { JsonObject } from '../../base/json.ts'
import { deferred } from '../../base/wait.ts'
import type { AgentRecords } from './agent-records.ts'
import type { ConfirmationAnswer, QuestionDraft, Recorded, Turn, UsageReport } from '../agent/agent.ts'
import type { Journal } from '../log/journal.ts'
import type { Confirmations } from './confirmations.ts'
import type { PrivateRecord } from '../log/records.ts'
import type { DeltaPiece, Frames } from '../log/frames.ts'

export interface LiveTurnOptions {
  readonly messages: readonly MessageEvent[]
  readonly approved: readonly string[]
  readonly isOwn: boolean
  readonly journal: Journal
  readonly questions: Confirmations
  readonly records: Pick<AgentRecords, 'count' | 'stats' | 'storeStats'>
  readonly frames: Pick<Frames, 'delta' | 'stats'>
  /** Creates an object that masks secrets in a text that arrives in pieces. */
  readonly createMaskingStream: () => MaskingStream
}

export class LiveTurn implements Turn {
  readonly messages: readonly MessageEvent[]
  readonly approved: readonly string[]
  readonly isOwn: boolean
  readonly #options: LiveTurnOptions
  readonly #controller = new AbortController()
  readonly signal: AbortSignal = this.#controller.signal
  readonly #pausing = new AbortController()
  readonly pausing: AbortSignal = this.#pausing.signal
  readonly #aborted = deferred<void>()
  readonly aborted = this.#aborted.promise
  readonly #masks = new Map<keyof DeltaPiece, MaskingStream>()
  /** True while counted usage has not been sent to clients. */
  #owesStats = false
  /** True when text was sent to clients since the turn's last event. */
  #isStreaming = false
  #fenced = false
  #hasActed = false
  #newestServed: string | undefined
  #newestAction: string | undefined
  #beforeMessage: (() => void) | undefined
  #refusal: unknown

  constructor(options: LiveTurnOptions) {
    this.messages = options.messages
    this.approved = options.approved
    this.isOwn = options.isOwn
    this.#options = options
  }

  /** The id of the newest ActionEvent of the turn; undefined without an action. */
  get newestAction(): string | undefined {
    return this.#newestAction
  }

  /** The error of the first report that could not be recorded; undefined if there is none. */
  get refusal(): unknown {
    return this.#refusal
  }

  /** Aborts the turn's signal. Does nothing after `fence`. */
  abort(): void {
    if (this.#fenced) return
    this.#controller.abort(new Error('The turn was stopped'))
    this.#aborted.resolve()
  }

  /** Asks a stepping agent to end the turn before its next step. */
  pause(): void {
    this.#pausing.abort(new Error('The turn was paused'))
  }

  /** Aborts the turn because of a report that could not be recorded. */
  refuse(cause: unknown): void {
    this.#refusal ??= cause
    this.abort()
  }

  /** Ends the turn: sends text that masking holds back, records `stats`, cancels confirmations. Drops later reports. */
  fence(): void {
    const { journal, records, questions } = this.#options
    this.#flushDeltas()
    journal.endText()
    if (!this.#fenced) this.#try(() => records.storeStats())
    questions.close()
    this.#fenced = true
  }

  record(draft: EventDraft, isMidway?: 'midway'): Recorded {
    if (this.#fenced) return dropped
    if (isMidway === undefined) this.#flushDeltas()
    try {
      if (draft.kind === 'ActionEvent') this.#markServed()
      const recorded = this.#options.journal.record(draft)
      this.#isStreaming = false
      if (draft.kind === 'ActionEvent') this.#newestAction = recorded.id
      // Agents use no `await` between events that belong together, so the microtask runs after the last such event.
      if (this.#owesStats) queueMicrotask(() => this.#sendStats())
      return recorded
    } catch (cause) {
      this.refuse(cause)
      return { id: '', durable: () => Promise.reject(cause) }
    }
  }

  /** Records that the agent has got a message. Does nothing if the newest such report had the same id. */
  served(messageId: string): void {
    if (messageId === this.#newestServed) return
    this.#newestServed = messageId
    this.#keep(['served', messageId])
  }

  keepResponse(id: string, state: JsonObject): void {
    this.#keep(['response', { id, state }])
  }

  keepCall(id: string, sealed: string): void {
    this.#keep(['call', { id, sealed }])
  }

  /** Masks a piece of text and sends it. If its end may begin a secret, the end waits for the text that follows. */
  delta(piece: DeltaPiece): void {
    if (this.#fenced) return
    for (const field of ['content', 'reasoning_content'] as const) {
      const text = piece[field]
      if (text === undefined) continue
      const mask = this.#masks.get(field) ?? this.#options.createMaskingStream()
      this.#masks.set(field, mask)
      const masked = mask.push(text)
      if (masked !== '' || text === '') this.#pushDelta(field, masked)
    }
  }

  /** Masks a line that the server wrote, and sends it whole to clients as `reasoning_content`. */
  tell(line: string): void {
    this.delta({ reasoning_content: line })
    this.#flushDeltas()
  }

  ask(question: QuestionDraft, withdrawn?: AbortSignal): Promise<ConfirmationAnswer> {
    if (this.#fenced) return Promise.resolve({ outcome: 'cancelled' })
    return this.#options.questions.ask(question, this.signal, withdrawn)
  }

  /**
   * Counts a usage report and sends clients the `stats`. If text was streamed since the turn's last event, the `stats`
   * wait for the next event: a published client would otherwise show the text twice.
   */
  usage(report: UsageReport): void {
    if (this.#fenced) return
    this.#try(() => this.#options.records.count(report))
    this.#owesStats = true
    if (!this.#isStreaming) this.#sendStats()
  }

  onMessage(listener: () => void): void {
    this.#beforeMessage = listener
  }

  /** Called before a user message is recorded: asks the agent to record the text that it has written so far. */
  beforeMessage(): void {
    if (!this.#fenced) this.#beforeMessage?.()
  }

  ready(): Promise<void> | undefined {
    return this.#options.journal.ready()
  }

  /** If clients lack the newest `stats` and the turn has not ended, sends them the `stats` in an unstored frame. */
  #sendStats(): void {
    const { journal, frames, records } = this.#options
    if (this.#owesStats && !this.#fenced) journal.push(frames.stats(records.stats))
    this.#owesStats = false
  }

  #keep(record: PrivateRecord): void {
    if (!this.#fenced) this.#try(() => this.#options.journal.keep(record))
  }

  /** Runs `work`, which records lines. Aborts the turn when the log refuses them. */
  #try(work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.refuse(cause)
    }
  }

  /** At the turn's first action, records the turn's messages as served, so that no later turn repeats the action. */
  #markServed(): void {
    const last = this.messages.at(-1)
    if (this.#hasActed || last === undefined) return
    this.#hasActed = true
    this.#options.journal.keep(['served', last.id])
  }

  /** Sends the text that masking has held back. */
  #flushDeltas(): void {
    for (const [field, mask] of this.#masks) {
      const rest = mask.end()
      if (rest !== '') this.#pushDelta(field, rest)
    }
    this.#masks.clear()
  }

  #pushDelta(field: keyof DeltaPiece, text: string): void {
    const { journal, frames } = this.#options
    this.#isStreaming = true
    journal.delta(frames.delta(field, text))
  }
}

/** The result of `record` after `fence`. */
const dropped: Recorded = { id: '', durable: () => Promise.resolve() }
