/**
 * Runs a conversation. A run is usually one turn. If messages to serve arrive during a turn, another turn follows. A
 * request to stop ends the run, and so does a turn that waits for the user, fails or is stuck.
 *
 * The run records `running` first, and another status at its end. It records no end if the conversation is deleted or
 * the log stays broken.
 */
import { AppError, assertNever } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/stamp.ts'
import { deferred, type Deferred } from '../../base/wait.ts'
import type { MessageEvent } from '../../schema/generated/events.ts'
import type { AgentRecords } from './agent-records.ts'
import type { AgentSeat } from './agent-seat.ts'
import type { TurnEnd } from '../agent/agent.ts'
import type { EventReader } from '../log/event-reader.ts'
import { stuck } from '../log/failure.ts'
import type { Frames } from '../log/frames.ts'
import type { Journal } from '../log/journal.ts'
import { answerOpenActions } from '../log/orphaned-run.ts'
import type { Repair } from '../log/repair.ts'
import type { KeyedRequest } from '../log/requests.ts'
import type { TurnRunner } from './turn-runner.ts'

/** Why a run is stopped. `pause` lets a stepping agent end its step. `shutdown` and `delete` record no PauseEvent. */
export type StopReason = 'pause' | 'interrupt' | 'shutdown' | 'delete'

export interface RunnerOptions {
  readonly journal: Journal
  readonly events: EventReader
  readonly seat: AgentSeat
  readonly turns: TurnRunner
  readonly records: Pick<AgentRecords, 'budgetSpent'>
  readonly frames: Frames
  readonly repair: Pick<Repair, 'closeRun'>
  /** Writes the cache of the state to disk. */
  readonly saveState: () => Promise<void>
  readonly diagnostics: Log
  readonly clock: Clock
}

interface Stop {
  readonly reason: StopReason
  /** Resolves when the stopped run has ended. */
  readonly done: Deferred<void>
}

export class Runner {
  readonly #options: RunnerOptions
  #run: Promise<void> | undefined
  /** Resolves at the next end of a run; undefined while no caller of `nextEnd` waits. */
  #nextEnd: Deferred<void> | undefined
  #stop: Stop | undefined
  /** True while messages ask for a turn: from `start` or `serve` until a turn begins or the run is asked to stop. */
  #hasServeRequest = false
  /** True when the agent has begun work by itself, and no turn has begun for this work yet. */
  #hasOwnWork = false
  #startedAt = 0
  #failure: string | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#run !== undefined
  }

  /** True during a turn. A run also has time before its first turn, between two turns and after its last turn. */
  get isInTurn(): boolean {
    return this.#options.turns.isRunning
  }

  /**
   * Starts a run. Resolves when `running` is durable. Must not be called during a run.
   * @throws AppError when the agent cannot be created; the errors of `Journal.record`
   */
  async start(request?: KeyedRequest): Promise<void> {
    this.#options.seat.agent()
    return this.#start(false, request)
  }

  async #start(isOwn: boolean, request?: KeyedRequest): Promise<void> {
    if (this.#run !== undefined) throw new TypeError('A run is under way already')
    // The first turn serves the messages, also when the agent begins work by itself before `running` is durable.
    this.#hasServeRequest = !isOwn
    // Work that the agent began by itself before this run gets no turn of its own: the first turn covers it.
    this.#hasOwnWork = isOwn
    const begun = this.#begin(request)
    this.#run = this.#serve(begun)
    await begun
  }

  /** Adds a turn, in the current or a new run, for work that the agent began itself. Call `Gate.assertOpen` before. */
  async startOwn(): Promise<void> {
    if (this.#run === undefined) return this.#start(true)
    this.#hasOwnWork = true
  }

  /** Makes the current or a new run serve the recorded messages. Begins no run while actions wait for the user. */
  async serve(request?: KeyedRequest): Promise<void> {
    const { journal } = this.#options
    if (!this.isRunning && journal.status !== 'waiting_for_confirmation') return this.start(request)
    if (this.isRunning) this.#supersede()
    if (request === undefined) return
    journal.answered(request)
    await journal.durable()
  }

  /** For a message that a hook refused: records a run without a turn, unless a run is under way or actions wait. */
  async finishUnserved(request?: KeyedRequest): Promise<void> {
    const { journal } = this.#options
    if (this.isRunning || journal.status === 'waiting_for_confirmation') {
      journal.answered(request)
      return journal.durable()
    }
    journal.move('run', request)
    journal.move('finished')
    await journal.durable()
    await this.#ended()
  }

  /**
   * Handles a message that arrives during a run: cancels the turn, unless it is a stepping agent's turn or waits for a
   * confirmation. The next turn gets all messages that are not served yet.
   */
  #supersede(): void {
    const { journal, seat, turns } = this.#options
    this.#hasServeRequest = true
    const isLeftAlone = seat.isStepping || journal.status === 'waiting_for_confirmation'
    if (!isLeftAlone) turns.abort()
  }

  /** Stops the run, if any, and resolves at its end. Messages to serve that arrive meanwhile begin another run. */
  async stop(reason: StopReason): Promise<void> {
    if (this.#run === undefined) return
    const { seat, turns } = this.#options
    this.#hasServeRequest = false
    this.#stop ??= { reason, done: deferred<void>() }
    if (reason === 'pause' && seat.isStepping) turns.pause()
    else turns.abort()
    await this.#stop.done.promise
  }

  /** Stops the run and closes the agent. Idempotent. */
  async close(reason: StopReason): Promise<void> {
    await this.stop(reason)
    await this.#options.seat.discard()
  }

  /** Resolves at the next end of a run: of the current run or, if its end is published already, of the next run. */
  nextEnd(): Promise<void> {
    this.#nextEnd ??= deferred<void>()
    return this.#nextEnd.promise
  }

  /** Resolves when the current run has ended; at once when no run is under way. */
  async settled(): Promise<void> {
    await this.#run
  }

  async #begin(request?: KeyedRequest): Promise<void> {
    const { journal, clock } = this.#options
    this.#startedAt = clock()
    this.#failure = undefined
    if (journal.status === 'finished') journal.move('message')
    journal.move('run', request)
    await journal.durable()
  }

  async #serve(begun: Promise<void>): Promise<void> {
    const { journal, seat, repair } = this.#options
    try {
      await begun
      while (await this.#serveOne());
      this.#tellEnd(journal.status)
      await this.#ended()
    } catch (cause) {
      // For example, the log cannot be read or written. After a failed write, `closeRun` first repairs the log.
      this.#hasServeRequest = false
      if (this.#hasOwnWork) await seat.discard()
      this.#hasOwnWork = false
      this.#failure = cause instanceof AppError ? cause.code : 'InternalError'
      this.#tellEnd('error')
      await repair.closeRun(cause)
      this.#publishEnd()
    }
    // Another run begins for a message that arrived, or for work that the agent began, while this run's end was being
    // recorded. From here on there must be no `await`: a message could arrive unnoticed.
    this.#stop?.done.resolve()
    this.#stop = undefined
    const hasMore = (this.#hasServeRequest && journal.state.unserved.length > 0) || this.#hasOwnWork
    const goesOn = hasMore && journal.status !== 'waiting_for_confirmation'
    this.#run = goesOn ? this.#serve(this.#begin()) : undefined
  }

  async #ended(): Promise<void> {
    this.#publishEnd()
    // A failure is ignored: the state file is a cache.
    await this.#options.saveState().catch(() => undefined)
  }

  #publishEnd(): void {
    const { journal, frames } = this.#options
    this.#nextEnd?.resolve()
    this.#nextEnd = undefined
    journal.push(frames.fullState().json)
    if (journal.status === 'stuck') journal.push(frames.error(stuck.code, stuck.detail))
  }

  /** Logs how the run ended, for the operator. Of a failure, only the code is logged. */
  #tellEnd(outcome: string): void {
    const { diagnostics, clock } = this.#options
    diagnostics.info('A run has ended', { outcome, code: this.#failure, ms: Math.round(clock() - this.#startedAt) })
  }

  /** Runs the next turn and records its end. Returns true when the run continues. */
  async #serveOne(): Promise<boolean> {
    const { journal, events } = this.#options
    const isOwn = this.#hasOwnWork && !this.#hasServeRequest
    this.#hasOwnWork = false
    // After `stop`, only a message for the next run sets `#hasServeRequest`. So it is not cleared here.
    if (this.#stop === undefined) this.#hasServeRequest = false
    const unserved = isOwn ? [] : [...journal.state.unserved]
    const messages = await events.messages(unserved)
    if (this.#hasServeRequest && this.#stop === undefined && !isOwn) return true
    const end = await this.#endOfTurn(messages, isOwn)
    if (this.#stop?.reason === 'delete') return false
    await this.#answerOpenActions(end)
    const last = unserved.at(-1)
    if (end.served && last !== undefined && journal.state.unserved.includes(last)) journal.keep(['served', last])
    await journal.durable()
    const goesOn = this.#conclude(end)
    await journal.durable()
    return goesOn
  }

  /** If the budget is spent, returns the end `failed` for the turn that must not begin; otherwise undefined. */
  #overBudget(): TurnEnd | undefined {
    const spent = this.#options.records.budgetSpent()
    if (spent === undefined) return undefined
    return { outcome: 'failed', served: false, code: 'MaxBudgetReached', detail: `No turn was begun: ${spent}` }
  }

  /**
   * Runs a turn and returns its end. After a request to stop, or with a spent budget, no message is served. Then a turn
   * is run only for work that the agent began itself, and is aborted at once, so that the agent ends this work.
   */
  async #endOfTurn(messages: readonly MessageEvent[], isOwn: boolean): Promise<TurnEnd> {
    const refused = this.#stop === undefined ? this.#overBudget() : notBegun
    const { turns } = this.#options
    if (refused === undefined) return turns.run(messages, isOwn)
    if (isOwn) await turns.run(messages, isOwn, 'stopped')
    return refused
  }

  async #answerOpenActions(end: TurnEnd): Promise<void> {
    const { journal } = this.#options
    if (end.outcome === 'waiting') return
    await journal.durable()
    const reason = end.outcome === 'stopped' ? 'The action was cancelled' : 'The agent ended without a result'
    answerOpenActions(journal, reason)
  }

  /** Records how the turn ended. Returns true when the run continues. */
  #conclude(end: TurnEnd): boolean {
    // A turn that ends by itself after a request to pause is recorded like any other turn.
    const isStopped = this.#stop !== undefined && (this.#stop.reason !== 'pause' || end.outcome === 'stopped')
    if (this.#stop !== undefined && isStopped) return this.#concludeStop(this.#stop.reason)
    const { journal } = this.#options
    switch (end.outcome) {
      case 'finished':
      case 'stopped':
        if (this.#stop === undefined && this.#hasServeRequest && journal.state.unserved.length > 0) return true
        journal.move('finished')
        return false
      case 'waiting':
        journal.move('asked')
        return false
      case 'stuck':
        journal.move('stuck')
        return false
      case 'failed':
        this.#failure = end.code
        journal.record({
          kind: 'ConversationErrorEvent',
          source: 'environment',
          code: end.code,
          detail: end.detail,
        })
        journal.move('failed')
        return false
      default:
        return assertNever(end)
    }
  }

  #concludeStop(reason: StopReason): false {
    this.#options.journal.move('interrupted')
    const isByUser = reason === 'interrupt' || reason === 'pause'
    if (isByUser) this.#options.journal.record({ kind: 'PauseEvent', source: 'user' })
    return false
  }
}

/** The result of `#endOfTurn` when the run was stopped before the turn. */
const notBegun: TurnEnd = { outcome: 'stopped', served: false }
