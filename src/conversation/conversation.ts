/**
 * One open conversation: its journal, its readers, its agent and its current run.
 *
 * A method that records a change resolves when the change is durable (decisions 6). `pause` waits for a limited time
 * only. A refused request throws an AppError.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../base/errors.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { Log } from '../base/log.ts'
import { within } from '../base/wait.ts'
import { formatMicros, type Clock } from '../base/stamp.ts'
import type { Message } from '../schema/generated/values.ts'
import type { ConversationLog } from '../storage/log.ts'
import type { Allowance } from './agent/allowance.ts'
import type { AgentRecords } from './run/agent-records.ts'
import type { AgentSeat } from './run/agent-seat.ts'
import type { Approval, Approvals } from './run/approvals.ts'
import type { Asides } from './extra/asides.ts'
import { idOf, type EventReader } from './log/event-reader.ts'
import type { Encode, Feed, Reader, Sink } from './log/feed.ts'
import { planFork, type ForkPlan, type ForkRequest } from './log/fork.ts'
import type { Frames } from './log/frames.ts'
import type { Gate } from './run/gate.ts'
import type { GoalLoop } from './extra/goal.ts'
import type { Inbox } from './run/inbox.ts'
import type { Journal } from './log/journal.ts'
import type { PendingConfirmation } from './run/confirmations.ts'
import type { Requests } from './log/once.ts'
import type { KeyedRequest } from './log/requests.ts'
import type { Runner } from './run/runner.ts'
import type { ConversationState } from './log/state.ts'
import { isEnded } from './log/status-table.ts'
import type { Switches } from './run/switches.ts'
import type { Beginning } from './run/admission.ts'
import type { Titles } from './extra/titles.ts'
import { assertFits, userMessageEvent } from './log/user-message.ts'

/** The objects and values of a conversation. `openConversation` creates and connects them. */
export interface ConversationParts {
  readonly log: ConversationLog
  readonly journal: Journal
  readonly feed: Feed
  readonly events: EventReader
  readonly frames: Frames
  readonly gate: Gate
  readonly requests: Requests
  readonly seat: AgentSeat
  readonly records: Pick<AgentRecords, 'allowance'>
  readonly runner: Runner
  readonly inbox: Inbox
  readonly approvals: Approvals
  readonly switches: Switches
  readonly asides: Asides
  readonly titles: Titles
  readonly goal: GoalLoop
  readonly beginning: Beginning
  /** The folder of the conversation in the data folder. */
  readonly directory: string
  readonly clock: Clock
  readonly diagnostics: Log
  /** The length in bytes of the largest event that the log accepts. */
  readonly eventLimitBytes: number
  /** Writes the cache of the state to disk. */
  readonly saveState: () => Promise<void>
  readonly onClosed: () => void
}

export interface Patch {
  readonly title?: string | undefined
  readonly tags?: Record<string, string> | undefined
  /** The conversation's new budget, in US dollars. */
  readonly budget?: number | undefined
}

export interface ConversationLoad {
  readonly readers: number
  /** Readers that lack published events, or whose output (`Sink`) takes no more data now. */
  readonly readersBehind: number
  /** Bytes that wait to be written to the log. */
  readonly queuedBytes: number
  /** User messages that no turn has served yet. */
  readonly waitingMessages: number
}

export class Conversation {
  readonly events: EventReader
  readonly frames: Frames
  readonly switches: Switches
  /** Requests to the agent outside its turns. */
  readonly asides: Asides
  readonly goal: GoalLoop
  readonly #parts: ConversationParts
  #closing: Promise<void> | undefined

  constructor(parts: ConversationParts) {
    this.#parts = parts
    this.events = parts.events
    this.frames = parts.frames
    this.switches = parts.switches
    this.asides = parts.asides
    this.goal = parts.goal
  }

  get id(): string {
    return this.state.id
  }

  /** The state after the newest durable line. Callers must not change it. */
  get state(): Readonly<ConversationState> {
    return this.#parts.journal.state
  }

  get isRunning(): boolean {
    return this.#parts.runner.isRunning
  }

  get load(): ConversationLoad {
    const { feed: { readerCount: readers, readersBehind }, log: { queuedBytes } } = this.#parts
    return { readers, readersBehind, queuedBytes, waitingMessages: this.state.unserved.length }
  }

  /** True once `close` was called, also if it was called for a deletion. */
  get isClosing(): boolean {
    return this.#closing !== undefined
  }

  /** True while a run, a goal or a reader uses the conversation. */
  get isBusy(): boolean {
    return this.isRunning || this.goal.isActive || this.#parts.feed.readerCount > 0
  }

  /**
   * Records a user message and interrupts the goal, if any. With `run`, the agent works on the message in the current
   * run or else in a new run.
   * @throws the errors of `Requests.once`, `Gate.assertWritable`, `AdmissionRules` and `Inbox.take`
   */
  send(message: Message, run: boolean, request?: KeyedRequest): Promise<void> {
    const { requests, gate, inbox, beginning, eventLimitBytes } = this.#parts
    return requests.once(request, async (recorded) => {
      await assertFits(userMessageEvent(message), eventLimitBytes)
      await gate.assertWritable()
      if (recorded !== undefined) return inbox.serveRecorded(recorded, request)
      beginning.assertSpace()
      const take = async (): Promise<void> => {
        this.goal.stop()
        await inbox.take(message, { run, request })
      }
      await (run ? beginning.run(take) : take())
    })
  }

  /**
   * Starts a run, which approves the actions that wait for the user between two runs. Starts no run if the conversation
   * is finished and no user message waits for a turn.
   * @throws AppError `already_running`; the errors of `Requests.once`, `Gate.assertWritable` and
   * `AdmissionRules.starting`
   */
  run(request?: KeyedRequest): Promise<void> {
    return this.#parts.requests.once(request, () => this.#run(request))
  }

  async #run(request: KeyedRequest | undefined): Promise<void> {
    const { journal, gate, runner, approvals, beginning } = this.#parts
    await gate.assertWritable()
    // A run whose end is published, or that left actions waiting, may still be writing its state cache.
    if (isEnded(journal.status) || approvals.waiting().length > 0) await runner.settled()
    gate.assertOpen()
    if (this.isRunning) throw new AppError('already_running', 'Cannot run the conversation: it is running already')
    if (this.state.execution_status === 'finished' && this.state.unserved.length === 0) {
      journal.answered(request)
      return journal.durable()
    }
    await beginning.run(() => runner.start(request))
  }

  /**
   * Pauses the run. A stepping agent may end its current step first: this method waits at most `pauseLimitMs` for it.
   * With any other agent, or without a run, works like `interrupt`. Does nothing while a run waits for a confirmation.
   */
  async pause(): Promise<void> {
    const { journal, gate, runner, seat } = this.#parts
    if (this.isRunning && journal.status === 'waiting_for_confirmation') return
    if (!this.isRunning || !seat.isStepping) return this.interrupt()
    gate.assertOpen()
    this.goal.stop()
    await within(runner.stop('pause'), pauseLimitMs)
    this.#pushFullState()
  }

  /** Stops the run at once, and resolves when it has ended. Without a run, `idle` becomes `paused`. */
  async interrupt(): Promise<void> {
    const { journal, gate, runner } = this.#parts
    gate.assertOpen()
    this.goal.stop()
    if (this.isRunning) await runner.stop('interrupt')
    if (journal.status === 'idle') await this.#pauseIdle()
    this.#pushFullState()
  }

  confirmations(): readonly PendingConfirmation[] {
    return this.#parts.approvals.list()
  }

  /**
   * Answers the confirmation that `approval` names. Without an id, answers the pending confirmation of the turn, or
   * else all actions that wait between two runs, if any.
   * @throws the errors of `Requests.once` and `Approvals.respond`, such as AppError `not_found` for an unknown id
   */
  respond(approval: Approval, request?: KeyedRequest): Promise<void> {
    const { requests, approvals } = this.#parts
    return requests.once(request, () => approvals.respond(approval, request))
  }

  async setConfirmationPolicy(policy: JsonObject): Promise<void> {
    await this.#set('confirmation_policy', policy)
    this.#parts.seat.policyChanged()
  }

  setSecurityAnalyzer(analyzer: JsonObject | null): Promise<void> {
    return this.#set('security_analyzer', analyzer)
  }

  /** Changes the title, the tags and the budget, each only if it is given. New tags replace all existing tags. */
  patch({ title, tags, budget }: Patch): Promise<void> {
    const { gate, journal, titles, clock } = this.#parts
    return gate.write(async () => {
      const at = formatMicros(Math.floor(clock() * 1000))
      if (title !== undefined) titles.chosen()
      const budgets = budget === undefined ? {} : { max_budget_per_task: budget }
      journal.keep(['patched', { at, ...(title === undefined ? {} : { title }), ...budgets }])
      if (tags !== undefined) await this.#set('tags', tags)
    })
  }

  /** Adds or replaces secrets of the conversation, which `AgentVault.sealSources` has sealed. */
  addSecrets(secrets: Readonly<Record<string, JsonObject>>): Promise<void> {
    const { gate, journal, diagnostics } = this.#parts
    return gate.write(() => {
      journal.keep(['secrets', secrets])
      diagnostics.info('Secrets of a conversation were set', { names: Object.keys(secrets).join(', ').slice(0, 1000) })
    })
  }

  /**
   * Makes an event the head of the branch: the next event follows it. With null, the next event begins a new branch.
   * @throws AppError `not_found`; the errors of `Gate.write`
   */
  async navigate(eventId: string | null): Promise<void> {
    const head = eventId === null ? null : await this.idOfEvent(eventId)
    const { gate, journal } = this.#parts
    await gate.write(() => journal.keep(['head', head]))
  }

  /** Returns an event's id as stored. `given` may lack dashes or have upper case. @throws AppError `not_found` */
  async idOfEvent(given: string): Promise<string> {
    const json = await this.events.find(given)
    if (json === undefined) throw new AppError('not_found', `Event not found: ${given.slice(0, 64)}`)
    return idOf(json)
  }

  /** Returns the number of the first event after the event or unstored frame with this id; undefined if unknown. */
  async seqAfter(id: string): Promise<number | undefined> {
    if ((await this.events.find(id)) !== undefined) return this.events.seqOf(id) + 1
    const micros = this.frames.timeOf(id)
    return micros === undefined ? undefined : this.events.firstAtOrAfter(micros)
  }

  /** Resolves at the next end of a run. See `Runner.nextEnd`. */
  nextEnd(): Promise<void> {
    return this.#parts.runner.nextEnd()
  }

  /** Resolves when all work of the current run is over; at once when no run is under way. */
  settled(): Promise<void> {
    return this.#parts.runner.settled()
  }

  /** Makes the limits of the parent's turn hold for this sub-agent's conversation; undefined removes the limits. */
  limitBy(allowance: Allowance | undefined): void {
    this.#parts.records.allowance = allowance
  }

  /** Plans a fork of this conversation. Writes nothing. @throws AppError `not_found` for an unknown event */
  async planFork(request: ForkRequest, now: string): Promise<ForkPlan> {
    const { log, directory, events } = this.#parts
    const fromEventId = request.fromEventId === null ? null : await this.idOfEvent(request.fromEventId)
    return planFork({ log, directory, events, state: this.state }, { ...request, fromEventId }, now)
  }

  /**
   * Adds a live reader. It gets the full state, then the events from number `from` on; for `now`, only new events.
   * @throws AppError `unavailable` when there are too many readers.
   */
  join(options: { readonly from: number | 'now'; readonly encode: Encode; readonly sink: Sink }): Reader {
    const from = options.from === 'now' ? this.events.eventCount : options.from
    const { json, timestamp } = this.frames.fullState()
    options.sink.write(options.encode(json, false))
    return this.#parts.feed.join(from, options.encode, options.sink, timestamp)
  }

  /** Ends the run, the agent, the readers (with `reason`) and the log. Later calls return the first promise. */
  close(reason: 'closed' | 'deleted' = 'closed'): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #close(reason: 'closed' | 'deleted'): Promise<void> {
    const { gate, titles, runner, feed, log, saveState, onClosed } = this.#parts
    gate.close()
    const goal = this.goal.close()
    await titles.close()
    await runner.close(reason === 'deleted' ? 'delete' : 'shutdown')
    await goal
    await log.durable().catch(() => undefined) // `log.failure` keeps the error.
    feed.close(reason)
    // A failure is ignored: the state file is a cache.
    if (reason === 'closed' && log.failure === undefined) await saveState().catch(() => undefined)
    await log.close()
    onClosed()
  }

  #pauseIdle(): Promise<void> {
    const { gate, journal } = this.#parts
    return gate.write(() => {
      // A run may have begun since the request.
      if (journal.status !== 'idle') return
      journal.move('paused')
      journal.record({ kind: 'PauseEvent', source: 'user' })
    })
  }

  /** Records a new value of a state field. Does nothing if the value equals the newest recorded value. */
  #set(key: 'confirmation_policy' | 'security_analyzer' | 'tags', value: JsonValue): Promise<void> {
    const { gate, journal } = this.#parts
    return gate.write(() => {
      if (!isDeepStrictEqual(journal.newest(key), value)) journal.update(key, value)
    })
  }

  #pushFullState(): void {
    this.#parts.journal.push(this.frames.fullState().json)
  }
}

/** The longest time in milliseconds that a pause request waits for the end of the current step. */
const pauseLimitMs = 5000
