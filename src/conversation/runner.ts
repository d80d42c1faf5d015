/**
 * Runs a conversation: one turn after another until every message is served, the user stops the run, or it fails.
 *
 * The run decides the status (decisions 14): the conversation is running or waiting exactly while a Runner has a turn.
 * Stop means stop (decisions 16): a turn is fenced when it ends, so later reports of a slow agent are dropped, and only
 * then is `paused` recorded. Before that, each action without a result gets an AgentErrorEvent. The log says which
 * messages a turn got and whether the turn served them.
 */
import { AppError, assertNever, errorOf, messageOf } from '../base/errors.ts'
import { deferred, within, type Deferred } from '../base/wait.ts'
import type { Log } from '../base/log.ts'
import type { Clock } from '../base/stamp.ts'
import type { MessageEvent } from '../schema/generated/events.ts'
import type { Agent, TurnEnd } from './agent.ts'
import type { Journal } from './journal.ts'
import type { LiveTurn } from './live-turn.ts'
import { answerOpenActions } from './orphaned-run.ts'
import type { KeyedRequest } from './requests.ts'

/** Why a run is being stopped. A pause may only stop between steps. A shutdown is not an act of the user. */
export type StopReason = 'pause' | 'interrupt' | 'shutdown' | 'delete'

export interface RunnerOptions {
  readonly journal: Journal
  /** Returns the current agent. */
  readonly agent: () => Agent
  /** Closes an agent that broke its contract. The next turn gets a new agent. */
  readonly discardAgent: () => Promise<void>
  readonly diagnostics: Log
  readonly clock: Clock
  /** Time from the abort of the turn's signal until an agent that still works is closed by force. */
  readonly stopLimitMs: number
  readonly readMessages: (ids: readonly string[]) => Promise<readonly MessageEvent[]>
  readonly openTurn: (opening: TurnOpening) => LiveTurn
  /** Why no further turn may begin; undefined while one may. */
  readonly budgetSpent: () => string | undefined
  /** Called when a run has ended and its end is durable. */
  readonly onEnd: () => Promise<void>
  /** Called when a run ended because the log failed. Must not reject. */
  readonly onLogFailure: (cause: unknown) => Promise<void>
}

/** The input of a turn. */
export interface TurnOpening {
  readonly messages: readonly MessageEvent[]
  /** Ids of the actions that the user has approved. */
  readonly approved: readonly string[]
  /** True when the agent began the turn by itself. */
  readonly isOwn: boolean
}

interface Stop {
  readonly reason: StopReason
  /** Resolves when the end of the stopped run is durable. */
  readonly done: Deferred<void>
}

export class Runner {
  readonly #options: RunnerOptions
  #run: Promise<void> | undefined
  #turn: LiveTurn | undefined
  #stop: Stop | undefined
  /** True when a message arrived after the current turn began, and after the request to stop, if there was one. */
  #again = false
  /** True when the agent began to work by itself and no turn covers that work yet. */
  #own = false
  /** Start time of the current run, and the code of the failure that ended it. */
  #startedAt = 0
  #failure: string | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#run !== undefined
  }

  /** Starts a run; resolves when `running` is durable, while the run goes on. Must not be called during a run. */
  async start(request?: KeyedRequest): Promise<void> {
    if (this.#run !== undefined) throw new TypeError('A run is under way already')
    this.#again = false
    // The turn with messages also covers work that the agent began by itself meanwhile.
    this.#own = false
    const begun = this.#begin(request)
    this.#run = this.#serve(begun)
    await begun
  }

  /**
   * Adds a turn for work that the agent began by itself, or starts a run for it. Resolves when `running` is durable.
   */
  async startOwn(): Promise<void> {
    const started = this.#run === undefined ? this.start() : undefined
    this.#own = true
    await started
  }

  /**
   * Makes room for a newer message: cancels the current turn, and the run goes on with all queued messages. A turn that
   * waits for a confirmation goes on, since a message answers no confirmation; the message is served after it. A
   * stepping agent's turn goes on too: the agent reads the message before its next step, or gets it in a turn after its
   * last step.
   */
  supersede(): void {
    this.#again = true
    const isLeftAlone = this.#isStepping() || this.#options.journal.status === 'waiting_for_confirmation'
    if (!isLeftAlone) this.#turn?.abort()
  }

  /** Stops the run; resolves when nothing of it is left and its end is durable. A later message begins another run. */
  async stop(reason: StopReason): Promise<void> {
    if (this.#run === undefined) return
    this.#again = false
    this.#stop ??= { reason, done: deferred<void>() }
    if (reason === 'pause' && this.#isStepping()) this.#turn?.pause()
    else this.#turn?.abort()
    await this.#stop.done.promise
  }

  #isStepping(): boolean {
    return this.#options.agent().isStepping === true
  }

  /** Resolves when no run is under way. */
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
    const { journal, onEnd, onLogFailure } = this.#options
    try {
      await begun
      while (await this.#serveOne());
      this.#tellEnd(journal.status)
      await onEnd()
    } catch (cause) {
      // Only a failed log gets here. Without a log nothing can be recorded.
      this.#again = false
      if (this.#own) await this.#options.discardAgent()
      this.#own = false
      this.#failure = cause instanceof AppError ? cause.code : 'InternalError'
      this.#tellEnd('error')
      await onLogFailure(cause)
    }
    // A message that arrived while the end was recorded begins another run. There is no await from here on, so a caller
    // that sees `isRunning` may rely on `supersede`.
    this.#stop?.done.resolve()
    this.#stop = undefined
    const hasMore = (this.#again && journal.state.unserved.length > 0) || this.#own
    const goesOn = hasMore && journal.status !== 'waiting_for_confirmation'
    this.#run = goesOn ? this.#serve(this.#begin()) : undefined
  }

  /** Logs how the run ended, for the operator. Of a failure the entry holds only the code. */
  #tellEnd(outcome: string): void {
    const { diagnostics, clock } = this.#options
    diagnostics.info('A run has ended', { outcome, code: this.#failure, ms: Math.round(clock() - this.#startedAt) })
  }

  /** Runs one turn. Returns true when another turn follows. */
  async #serveOne(): Promise<boolean> {
    const { journal, readMessages } = this.#options
    const isOwn = this.#own && !this.#again
    this.#own = false
    // A message that arrived after the request to stop belongs to the next run.
    if (this.#stop === undefined) this.#again = false
    const unserved = isOwn ? [] : [...journal.state.unserved]
    const messages = await readMessages(unserved)
    if (this.#again && this.#stop === undefined && !isOwn) return true
    const end = await this.#endOfTurn(messages, isOwn)
    if (this.#stop?.reason === 'delete') return false
    await this.#answerOpenActions(end)
    const last = unserved.at(-1)
    if (end.served && last !== undefined && journal.state.unserved.includes(last)) journal.keep(['served', last])
    await journal.durable()
    const again = this.#conclude(end)
    await journal.durable()
    return again
  }

  /** Returns the failed end of a turn that the budget does not allow. The messages wait for a larger budget. */
  #overBudget(): TurnEnd | undefined {
    const spent = this.#options.budgetSpent()
    if (spent === undefined) return undefined
    return { outcome: 'failed', served: false, code: 'MaxBudgetReached', detail: `No turn was begun: ${spent}` }
  }

  /**
   * Runs the turn, if one may begin. If none may, work that the agent began by itself is ended by a turn that is
   * aborted at once.
   */
  async #endOfTurn(messages: readonly MessageEvent[], isOwn: boolean): Promise<TurnEnd> {
    const refused = this.#stop === undefined ? this.#overBudget() : notBegun
    if (refused === undefined) return this.#runTurn(messages, isOwn)
    if (isOwn) await this.#runTurn(messages, isOwn, 'stopped')
    return refused
  }

  async #runTurn(messages: readonly MessageEvent[], isOwn: boolean, stopped?: 'stopped'): Promise<TurnEnd> {
    const approved = this.#options.journal.state.open_actions.map((action) => action.action_id)
    const turn = this.#options.openTurn({ messages, approved, isOwn })
    this.#turn = turn
    if (stopped !== undefined) turn.abort()
    try {
      const end = await this.#untilSettled(this.#options.agent().runTurn(turn), turn)
      if (turn.refusal === undefined) return end
      return { outcome: 'failed', served: end.served, code: 'EventRefused', detail: messageOf(turn.refusal) }
    } catch (cause) {
      this.#options.diagnostics.error('An agent broke its contract: runTurn rejected', { error: errorOf(cause) })
      return { outcome: 'failed', served: true, code: 'InternalError', detail: 'The agent failed unexpectedly' }
    } finally {
      turn.fence()
      this.#turn = undefined
    }
  }

  /** Waits for the agent. After the turn is aborted, waits `stopLimitMs` at most and then closes the agent by force. */
  async #untilSettled(ending: Promise<TurnEnd>, turn: LiveTurn): Promise<TurnEnd> {
    const first = await Promise.race([ending, turn.aborted.then(() => 'aborted' as const)])
    if (first !== 'aborted') return first
    const end = await within(ending, this.#options.stopLimitMs)
    if (end !== 'late') return end
    this.#options.diagnostics.warn('An agent did not stop in time and was closed')
    turn.fence()
    await this.#options.discardAgent()
    return { outcome: 'stopped', served: true }
  }

  async #answerOpenActions(end: TurnEnd): Promise<void> {
    const { journal } = this.#options
    if (end.outcome === 'waiting') return
    await journal.durable()
    const reason = end.outcome === 'stopped' ? 'The action was cancelled' : 'The agent ended without a result'
    answerOpenActions(journal, reason)
  }

  /** Records how the turn ended. Returns true when the run goes on. */
  #conclude(end: TurnEnd): boolean {
    // A pause lets the current step end. If it was the last step, the turn keeps its own end.
    const isStopped = this.#stop !== undefined && (this.#stop.reason !== 'pause' || end.outcome === 'stopped')
    if (this.#stop !== undefined && isStopped) return this.#concludeStop(this.#stop.reason)
    const { journal } = this.#options
    switch (end.outcome) {
      case 'finished':
      case 'stopped':
        if (this.#stop === undefined && this.#again && journal.state.unserved.length > 0) return true
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

/** The end of a turn that was stopped before the agent got it. */
const notBegun: TurnEnd = { outcome: 'stopped', served: false }
