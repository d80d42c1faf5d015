/**
 * Runs a conversation: one turn after another until nothing is left to serve, the user stops it, or it fails.
 *
 * The status comes from here (decisions 14): while a Runner has a turn, the conversation is running or waiting, and
 * nothing else makes it so. Stop means stop (decisions 16): a turn is fenced the moment it is over, so that whatever a
 * slow agent still reports is dropped, and only then is `paused` recorded. Actions that were left without an answer get
 * an AgentErrorEvent first. Which messages a turn gets, and whether it has served them, is in the log.
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

/** Why a run is being stopped. A pause and an interrupt differ only in what may be stopped; a shutdown is no user's act. */
export type StopReason = 'pause' | 'interrupt' | 'shutdown' | 'delete'

export interface RunnerOptions {
  readonly journal: Journal
  /** The agent of this moment. */
  readonly agent: () => Agent
  /** Closes an agent that cannot be trusted any more; the next turn gets another. */
  readonly discardAgent: () => Promise<void>
  readonly diagnostics: Log
  readonly clock: Clock
  /** An agent that does not settle this long after its signal was aborted is closed by force. */
  readonly stopLimitMs: number
  readonly readMessages: (ids: readonly string[]) => Promise<readonly MessageEvent[]>
  readonly openTurn: (opening: TurnOpening) => LiveTurn
  /** Why no turn may begin any more; undefined while one may. */
  readonly budgetSpent: () => string | undefined
  /** Called when a run has ended and its end is durable. */
  readonly onEnd: () => Promise<void>
  /** Called when a run has ended because the log took nothing more. Must not reject. */
  readonly onLogFailure: (cause: unknown) => Promise<void>
}

/** What a turn begins with. */
export interface TurnOpening {
  readonly messages: readonly MessageEvent[]
  /** Ids of the actions that the user has approved. */
  readonly approved: readonly string[]
  /** The agent has begun it by itself. */
  readonly isOwn: boolean
}

interface Stop {
  readonly reason: StopReason
  /** Resolves when the end of what was stopped is durable. */
  readonly done: Deferred<void>
}

export class Runner {
  readonly #options: RunnerOptions
  #run: Promise<void> | undefined
  #turn: LiveTurn | undefined
  #stop: Stop | undefined
  /** A message asked to be served: after the turn under way began, and after it was told to stop, if it was. */
  #again = false
  /** The agent has begun to work by itself, and no turn has taken that yet. */
  #own = false
  /** When the run under way began, and the code of the failure that ended it. */
  #startedAt = 0
  #failure: string | undefined

  constructor(options: RunnerOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#run !== undefined
  }

  /** Starts a run; resolves once `running` is durable. The run itself goes on. Must not be called while one is under way. */
  async start(request?: KeyedRequest): Promise<void> {
    if (this.#run !== undefined) throw new TypeError('A run is under way already')
    this.#again = false
    // A turn with messages takes what the agent has begun meanwhile.
    this.#own = false
    const begun = this.#begin(request)
    this.#run = this.#serve(begun)
    await begun
  }

  /** The agent works by itself: the run under way has a turn for that, or one begins. Resolves once `running` is durable. */
  async startOwn(): Promise<void> {
    const started = this.#run === undefined ? this.start() : undefined
    this.#own = true
    await started
  }

  /**
   * A newer message wants to be served: the turn under way is cancelled, the run goes on with all that is queued. A
   * turn that waits for the user is left alone, since a message answers no question; the message comes after it. So is
   * that of a stepping agent, which sees the message before its next step, or in a turn after its last.
   */
  supersede(): void {
    this.#again = true
    const isLeftAlone = this.#isStepping() || this.#options.journal.status === 'waiting_for_confirmation'
    if (!isLeftAlone) this.#turn?.abort()
  }

  /** Stops the run and resolves when nothing of it is left and its end is durable. What is sent later begins another. */
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
      // Only a failed log ends here: without it nothing can be recorded.
      this.#again = false
      if (this.#own) await this.#options.discardAgent()
      this.#own = false
      this.#failure = cause instanceof AppError ? cause.code : 'InternalError'
      this.#tellEnd('error')
      await onLogFailure(cause)
    }
    // A message that came while the end was being recorded begins another run. No await from here on: whoever sees
    // `isRunning` may rely on `supersede`.
    this.#stop?.done.resolve()
    this.#stop = undefined
    const hasMore = (this.#again && journal.state.unserved.length > 0) || this.#own
    const goesOn = hasMore && journal.status !== 'waiting_for_confirmation'
    this.#run = goesOn ? this.#serve(this.#begin()) : undefined
  }

  /** Tells the operator how the run ended, and of what is in it only the code of a failure. */
  #tellEnd(outcome: string): void {
    const { diagnostics, clock } = this.#options
    diagnostics.info('A run has ended', { outcome, code: this.#failure, ms: Math.round(clock() - this.#startedAt) })
  }

  /** One turn. True when another one is to follow. */
  async #serveOne(): Promise<boolean> {
    const { journal, readMessages } = this.#options
    const isOwn = this.#own && !this.#again
    this.#own = false
    // What was asked for after a stop is for the run after it.
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

  /** The end of a turn that must not begin: its messages wait for a larger budget. */
  #overBudget(): TurnEnd | undefined {
    const spent = this.#options.budgetSpent()
    return spent === undefined ? undefined : { outcome: 'failed', served: false, code: 'MaxBudgetReached', detail: `No turn was begun: ${spent}` }
  }

  /** What the agent has begun by itself has to be ended, by a turn that is stopped at once, where no turn may begin. */
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

  /** Waits for the agent, but not for ever once it was told to stop. */
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
    answerOpenActions(journal, end.outcome === 'stopped' ? 'The action was cancelled' : 'The agent ended without a result')
  }

  /** Records how the turn ended. True when the run goes on. */
  #conclude(end: TurnEnd): boolean {
    // A pause lets the step under way be done: when that was the last, the end stays what it is.
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
    if (reason === 'interrupt' || reason === 'pause') this.#options.journal.record({ kind: 'PauseEvent', source: 'user' })
    return false
  }
}

/** The end of a turn that was stopped before its agent heard of it. */
const notBegun: TurnEnd = { outcome: 'stopped', served: false }
