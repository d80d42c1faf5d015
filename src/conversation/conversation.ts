/**
 * One open conversation: its journal, its readers, its agent and its current run.
 *
 * The service creates it and keeps at most one object per id. Every public method that changes something resolves when
 * the change is durable, so a 2xx response may follow (decisions 6). A refused request throws an AppError; a request
 * that changes nothing (a pause of a finished conversation) does not. `close()` ends run, agent, readers and log, once.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../base/errors.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import { within } from '../base/wait.ts'
import { createStamper, formatMicros, type RandomBytes, type Stamp } from '../base/stamp.ts'
import type { Message } from '../schema/generated/values.ts'
import type { ConversationLog } from '../storage/log.ts'
import type { Reserve } from '../storage/reserve.ts'
import { Approvals, type Approval } from './approvals.ts'
import { Driver, type DriverOptions } from './driver.ts'
import type { Encode, Feed, Reader, Sink } from './feed.ts'
import { fullStateFrame } from './frames.ts'
import { GoalLoop } from './goal.ts'
import { idOf, readEvent } from './history.ts'
import { serveRecorded, takeMessage, takeText, type IncomingOptions } from './incoming-message.ts'
import { fullState } from './info.ts'
import type { PendingConfirmation } from './questions.ts'
import { Repair } from './repair.ts'
import { Requests, type KeyedRequest } from './requests.ts'
import type { ConversationState } from './state.ts'
import { isEnded } from './status-table.ts'
import { Titles } from './titles.ts'
import { assertFits, userMessageEvent } from './user-message.ts'

export interface ConversationOptions extends Omit<DriverOptions, 'nextFrameStamp' | 'onRunEnd' | 'onLogFailure'> {
  readonly feed: Feed
  /** The conversation's own folder. */
  readonly directory: string
  readonly random: RandomBytes
  readonly reserve: Reserve
  /** The largest event that the log accepts. */
  readonly eventLimitBytes: number
  /** Writes the state cache. Called at the end of each run and at close. */
  readonly saveState: () => Promise<void>
  readonly onClosed: () => void
}

export interface Patch {
  readonly title?: string | undefined
  readonly tags?: Record<string, string> | undefined
  /** In US dollars. */
  readonly budget?: number | undefined
}

export class Conversation {
  readonly goal: GoalLoop
  readonly #options: ConversationOptions
  readonly #driver: Driver
  readonly #repair: Repair
  readonly #titles: Titles
  readonly #approvals: Approvals
  readonly #requests: Requests
  readonly #incoming: IncomingOptions
  readonly #frameStamp: () => Stamp
  #closing: Promise<void> | undefined

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#frameStamp = createStamper(options.clock, options.random)
    this.#repair = new Repair(options)
    this.#driver = new Driver({
      ...options,
      nextFrameStamp: this.#frameStamp,
      onRunEnd: () => this.#runEnded(),
      onLogFailure: (cause) => this.#runFailed(cause),
    })
    this.#titles = new Titles({ ...options, ask: (text, signal) => this.#driver.askTitle(text, signal) })
    this.#requests = new Requests({ log: options.log, known: () => this.state.requests })
    const assertWritable = (): Promise<void> => this.#assertWritable()
    this.#approvals = new Approvals({ ...options, driver: this.#driver, assertWritable })
    const parts = { driver: this.#driver, titles: this.#titles, onRunEnd: () => this.#runEnded() }
    this.#incoming = { ...options, ...parts, assertOpen: () => this.#assertOpen() }
    const send = (text: string, signal: AbortSignal): Promise<boolean> => takeText(text, signal, this.#incoming)
    this.goal = new GoalLoop({ ...options, driver: this.#driver, assertWritable, send })
  }

  get id(): string {
    return this.state.id
  }

  /** The state after the newest durable line. Callers must not change it. */
  get state(): Readonly<ConversationState> {
    return this.#options.journal.state
  }

  /** The events, for reading. */
  get log(): ConversationLog {
    return this.#options.log
  }

  get isRunning(): boolean {
    return this.#driver.isRunning
  }

  /** True while a run, a goal or a reader uses the conversation. A busy conversation is not closed for idleness. */
  get isBusy(): boolean {
    return this.isRunning || this.goal.isActive || this.#options.feed.readerCount > 0
  }

  /**
   * Appends a user message. With `run`, the message is served by the current run, or by a new one. Stops a goal.
   * @throws AppError `body_too_large` when the event would be longer than the log accepts.
   */
  send(message: Message, run: boolean, request?: KeyedRequest): Promise<void> {
    return this.#requests.once(request, async (recorded) => {
      const incoming = { ...this.#incoming, request }
      await assertFits(userMessageEvent(message), this.#options.eventLimitBytes)
      await this.#assertWritable()
      if (recorded !== undefined) return serveRecorded(recorded, incoming)
      this.goal.stop()
      await takeMessage(message, run, incoming)
    })
  }

  /**
   * Starts a run. When the agent waits for the user between turns, this also approves the pending actions.
   * @throws AppError `already_running`
   */
  run(request?: KeyedRequest): Promise<void> {
    return this.#requests.once(request, () => this.#run(request))
  }

  async #run(request: KeyedRequest | undefined): Promise<void> {
    await this.#assertWritable()
    // A run whose end is published may still be writing its state cache. Wait for it instead of refusing the request.
    if (isEnded(this.#options.journal.status) || this.#approvals.waiting().length > 0) await this.#driver.settled()
    this.#assertOpen()
    if (this.isRunning) throw new AppError('already_running', 'Cannot run the conversation: it is running already')
    if (this.state.execution_status === 'finished' && this.state.unserved.length === 0) {
      this.#options.journal.answered(request)
      return this.#options.journal.durable()
    }
    await this.#driver.start(request)
  }

  /**
   * Stops the run between two steps. A conversation that has ended or waits for a confirmation stays as it is. A step
   * may take long, so the response is sent after `pauseLimitMs` at the latest.
   */
  async pause(): Promise<void> {
    if (this.isRunning && this.#options.journal.status === 'waiting_for_confirmation') return
    if (!this.isRunning || !this.#driver.isStepping) return this.interrupt()
    this.#assertOpen()
    this.goal.stop()
    await within(this.#driver.stop('pause'), pauseLimitMs)
    this.#pushFullState()
  }

  /** Stops the run at once and resolves when nothing of the turn is left. Without a run it does the same as `pause`. */
  async interrupt(): Promise<void> {
    this.#assertOpen()
    this.goal.stop()
    if (this.isRunning) await this.#driver.stop('interrupt')
    if (this.#options.journal.status === 'idle') await this.#pauseIdle()
    this.#pushFullState()
  }

  confirmations(): readonly PendingConfirmation[] {
    return this.#approvals.list()
  }

  /**
   * Answers one pending confirmation, or all of them. Does nothing when none is pending.
   * @throws AppError `not_found` when the id names no pending confirmation.
   */
  respond(approval: Approval, request?: KeyedRequest): Promise<void> {
    return this.#requests.once(request, () => this.#approvals.respond(approval, request))
  }

  async setConfirmationPolicy(policy: JsonObject): Promise<void> {
    await this.#set('confirmation_policy', policy)
    this.#driver.policyChanged()
  }

  setSecurityAnalyzer(analyzer: JsonObject | null): Promise<void> {
    return this.#set('security_analyzer', analyzer)
  }

  /** Changes title, tags and budget. New tags replace all existing tags. */
  patch({ title, tags, budget }: Patch): Promise<void> {
    return this.#write(async () => {
      const at = formatMicros(Math.floor(this.#options.clock() * 1000))
      if (title !== undefined) this.#titles.chosen()
      const budgets = budget === undefined ? {} : { max_budget_per_task: budget }
      this.#options.journal.keep(['patched', { at, ...(title === undefined ? {} : { title }), ...budgets }])
      if (tags !== undefined) await this.#set('tags', tags)
    })
  }

  /** Adds secrets (sealed sources) to the conversation. Never removes a secret. */
  addSecrets(secrets: Readonly<Record<string, JsonObject>>): Promise<void> {
    return this.#write(() => {
      const { journal, diagnostics } = this.#options
      journal.keep(['secrets', secrets])
      diagnostics.info('Secrets of a conversation were set', { names: Object.keys(secrets).join(', ').slice(0, 1000) })
    })
  }

  /** Switches the built-in agent's model from the next step on. `change` returns the settings, secrets sealed. */
  switchLlm(change: (agent: JsonObject) => JsonObject): Promise<void> {
    return this.#write(() => this.#driver.set(change))
  }

  /** Switches the agent's model from the next turn on. */
  switchModel(model: string, signal: AbortSignal): Promise<void> {
    return this.#write(() => this.#driver.switchModel(model, signal))
  }

  /** Switches the mode of the agent's session at once and for later turns. */
  switchMode(mode: string, signal: AbortSignal): Promise<void> {
    return this.#write(() => this.#driver.switchMode(mode, signal))
  }

  /** Sets an option of the agent's session other than mode and model, for this session and later ones. */
  switchOption(id: string, value: string, signal: AbortSignal): Promise<void> {
    return this.#write(() => this.#driver.switchOption(id, value, signal))
  }

  /** Asks the agent a question beside its work, also during a run. Records no event and changes no status. */
  askAside(question: string, signal: AbortSignal): Promise<string> {
    return this.#write(() => this.#driver.askAside(question, signal))
  }

  /** Has the agent summarize the older part of the history, between two runs. */
  condense(signal: AbortSignal): Promise<void> {
    return this.#write(() => this.#driver.condense(signal))
  }

  /** Moves the head to an event, or before the first for null. Deletes nothing. @throws AppError `not_found` */
  async navigate(eventId: string | null): Promise<void> {
    const head = eventId === null ? null : await this.idOfEvent(eventId)
    await this.#write(() => this.#options.journal.keep(['head', head]))
  }

  /**
   * Returns the stored form of an event's id. `given` may lack dashes or have upper case. @throws AppError `not_found`
   */
  async idOfEvent(given: string): Promise<string> {
    const json = await readEvent(this.log, given)
    if (json === undefined) throw new AppError('not_found', `Event not found: ${given.slice(0, 64)}`)
    return idOf(json)
  }

  /**
   * Adds a live reader. Its first frame is the full state at this point. Then come the events from seq `from` on, or
   * only new events. @throws AppError `unavailable` when there are too many readers.
   */
  join(options: { readonly from: number | 'now'; readonly encode: Encode; readonly sink: Sink }): Reader {
    const { feed } = this.#options
    const from = options.from === 'now' ? this.log.eventCount : options.from
    options.sink.write(options.encode(this.fullStateFrame(), false))
    return feed.join(from, options.encode, options.sink)
  }

  /** Builds the frame with the whole state. The frame is sent to readers and never stored. */
  fullStateFrame(): Buffer {
    return fullStateFrame(fullState(this.state, this.#options.directory), this.#frameStamp())
  }

  /** Returns a stamp for a frame that is not stored. */
  nextFrameStamp(): Stamp {
    return this.#frameStamp()
  }

  /** Aborts the turn after the log has failed, because further work of the turn could not be recorded. */
  logFailed(): void {
    this.#driver.abortTurn()
  }

  /** Ends everything, once. `reason` is what the readers are told. */
  close(reason: 'closed' | 'deleted' = 'closed'): Promise<void> {
    this.#closing ??= this.#close(reason)
    return this.#closing
  }

  async #close(reason: 'closed' | 'deleted'): Promise<void> {
    const { feed, log, saveState } = this.#options
    const goal = this.goal.close()
    await this.#titles.close()
    await this.#driver.close(reason === 'deleted' ? 'delete' : 'shutdown')
    await goal
    await log.durable().catch(() => undefined)
    feed.close(reason)
    // The state file is a cache. Without it the next opening folds the log.
    if (reason === 'closed' && log.failure === undefined) await saveState().catch(() => undefined)
    await log.close()
    this.#options.onClosed()
  }

  #pauseIdle(): Promise<void> {
    return this.#write(() => {
      // A run that began meanwhile came after the pause, so it is not paused.
      if (this.#options.journal.status !== 'idle') return
      this.#options.journal.move('paused')
      this.#options.journal.record({ kind: 'PauseEvent', source: 'user' })
    })
  }

  /** Records a new value of a state field. An equal value records nothing. */
  #set(key: 'confirmation_policy' | 'security_analyzer' | 'tags', value: JsonValue): Promise<void> {
    return this.#write(() => {
      if (!isDeepStrictEqual(this.state[key], value)) this.#options.journal.update(key, value)
    })
  }

  async #runEnded(): Promise<void> {
    this.goal.runEnded()
    this.#pushFullState()
    await this.#options.saveState().catch(() => undefined)
  }

  async #runFailed(cause: unknown): Promise<void> {
    await this.#repair.closeRun(cause)
    this.goal.runEnded()
    this.#pushFullState()
  }

  #pushFullState(): void {
    this.#options.journal.push(this.fullStateFrame())
  }

  /** Runs `work` and resolves when everything that it recorded is durable. */
  async #write<T>(work: () => T | Promise<T>): Promise<T> {
    await this.#assertWritable()
    const result = await work()
    await this.#options.journal.durable()
    return result
  }

  /** Throws when the disk is full or the conversation is being closed. */
  async #assertWritable(): Promise<void> {
    this.#assertOpen()
    await this.#repair.assertWritable(() => this.isRunning)
    this.#assertOpen()
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new AppError('conflict', 'The conversation is being closed or deleted')
  }
}

/** The longest wait of a pause request, whatever the tools of the step do. */
const pauseLimitMs = 5000
