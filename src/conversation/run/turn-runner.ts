/**
 * Runs one turn: gives it to the agent and waits for its end. Also records the confirmations of the turn.
 *
 * An agent that does not end an aborted turn within `stopLimitMs` is closed.
 */
import { errorOf, messageOf } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import type { MaskingStream } from '../../base/masking.ts'
import type { Clock } from '../../base/stamp.ts'
import { within } from '../../base/wait.ts'
import type { MessageEvent } from '../../schema/generated/events.ts'
import type { AgentRecords } from './agent-records.ts'
import type { AgentSeat } from './agent-seat.ts'
import type { TurnEnd } from '../agent/agent.ts'
import type { Frames } from '../log/frames.ts'
import type { Journal, JournalFollower } from '../log/journal.ts'
import { LiveTurn } from './live-turn.ts'
import { askedLine, confirmationValue, Confirmations, type PendingConfirmation } from './confirmations.ts'

export interface TurnRunnerOptions {
  readonly journal: Journal
  readonly seat: AgentSeat
  readonly records: AgentRecords
  readonly frames: Frames
  readonly createMaskingStream: () => MaskingStream
  readonly diagnostics: Log
  readonly clock: Clock
  readonly confirmationDeadlineMs: number
  /** The longest wait in milliseconds for the end of an aborted turn. */
  readonly stopLimitMs: number
}

export class TurnRunner implements JournalFollower {
  readonly questions: Confirmations
  readonly #options: TurnRunnerOptions
  #turn: LiveTurn | undefined
  /** The id of the turn's newest action at the time when the latest confirmation became pending. */
  #newestAction: string | undefined

  constructor(options: TurnRunnerOptions) {
    const { clock, confirmationDeadlineMs } = options
    this.#options = options
    this.questions = new Confirmations({
      clock,
      deadlineMs: confirmationDeadlineMs,
      onChange: (open) => this.#questionsChanged(open),
    })
  }

  get isRunning(): boolean {
    return this.#turn !== undefined
  }

  /**
   * Runs a turn and returns its end. Never rejects.
   * @param isOwn true when the agent began the turn by itself
   * @param stopped given to abort the turn at once
   */
  async run(messages: readonly MessageEvent[], isOwn: boolean, stopped?: 'stopped'): Promise<TurnEnd> {
    const turn = this.#open(messages, isOwn)
    this.#turn = turn
    if (stopped !== undefined) turn.abort()
    try {
      const end = await this.#untilEnded(this.#options.seat.agent().runTurn(turn), turn)
      assertEnd(end)
      if (turn.refusal === undefined) return end
      return { outcome: 'failed', served: end.served, code: 'EventRefused', detail: messageOf(turn.refusal) }
    } catch (cause) {
      this.#options.diagnostics.error('An agent broke its contract: runTurn rejected', { error: errorOf(cause) })
      return { outcome: 'failed', served: true, code: 'InternalError', detail: 'The agent failed unexpectedly' }
    } finally {
      this.#end(turn)
    }
  }

  abort(): void {
    this.#turn?.abort()
  }

  /** Called before a user message is recorded: asks the agent to record the text that it has written so far. */
  beforeMessage(): void {
    this.#turn?.beforeMessage()
  }

  pause(): void {
    this.#turn?.pause()
  }

  /** Aborts the turn, because its further reports could not be recorded. */
  logFailed(): void {
    this.abort()
  }

  /** Logs the error, and aborts the turn, if one is under way. The turn then ends as failed. */
  recordRefused(cause: unknown): void {
    this.#options.diagnostics.error('A report of an agent could not be recorded', { error: errorOf(cause) })
    this.#turn?.refuse(cause)
  }

  #open(messages: readonly MessageEvent[], isOwn: boolean): LiveTurn {
    const { journal, records, frames, createMaskingStream } = this.#options
    const approved = journal.state.open_actions.map((action) => action.action_id)
    return new LiveTurn({
      messages, approved, isOwn, journal, questions: this.questions, records, frames, createMaskingStream,
    })
  }

  /** Waits for the end of the turn. If the turn is aborted and does not end within `stopLimitMs`, closes the agent. */
  async #untilEnded(ending: Promise<TurnEnd>, turn: LiveTurn): Promise<TurnEnd> {
    const first = await Promise.race([ending, turn.aborted.then(() => 'aborted' as const)])
    if (first !== 'aborted') return first
    const { stopLimitMs, diagnostics, seat } = this.#options
    const end = await within(ending, stopLimitMs)
    if (end !== 'late') return end
    diagnostics.warn('An agent did not stop in time and was closed')
    this.#end(turn)
    await seat.discard()
    return { outcome: 'stopped', served: true }
  }

  #end(turn: LiveTurn): void {
    turn.fence()
    this.#turn = undefined
  }

  #questionsChanged(open: readonly PendingConfirmation[]): void {
    const { journal } = this.#options
    const [question] = open
    journal.attempt(() => {
      journal.update('pending_confirmations', open.map(confirmationValue))
      if (open.length > 0) journal.move('asked')
      else if (this.#turn?.signal.aborted === false) journal.move('answered')
      if (question !== undefined) this.#nameAction(question)
    })
  }

  /**
   * Sends clients a line that names the action of the confirmation. The first confirmation of the turn's newest action
   * gets no line, because published clients show the newest action as the waiting action.
   */
  #nameAction(question: PendingConfirmation): void {
    const newest = this.#turn?.newestAction
    const isShown = newest !== undefined && newest === question.action_id && newest !== this.#newestAction
    this.#newestAction = newest
    if (!isShown) this.#turn?.tell(askedLine(question))
  }
}

/** Checks the end of a turn at run time, because the agent may be written in JavaScript. @throws TypeError */
function assertEnd(end: unknown): void {
  const isEnd = isObject(end) && outcomes.some((outcome) => outcome === end['outcome'])
  if (!isEnd) throw new TypeError(`runTurn gave no turn's end: expected an outcome, one of ${outcomes.join(', ')}`)
}

const outcomes: readonly TurnEnd['outcome'][] = ['finished', 'stopped', 'waiting', 'stuck', 'failed']
