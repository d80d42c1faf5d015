/**
 * The work side of a conversation: its agent, its current run, and the pending confirmations of that run.
 *
 * The agent is created for the first run and lives until `close()`. This class connects the agent contract (`agent.ts`)
 * to the journal. `host.ts` holds everything that an agent may read and keep.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError, errorOf } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { parseOwnJsonBytes } from '../base/json-turns.ts'
import type { Log } from '../base/log.ts'
import type { MaskingStream } from '../base/masking.ts'
import type { Clock, Stamp } from '../base/stamp.ts'
import type { GoalVerdict } from '../schema/generated/conversations.ts'
import type { MessageEvent } from '../schema/generated/events.ts'
import type { Message } from '../schema/generated/values.ts'
import type { ConversationLog } from '../storage/log.ts'
import type {
  Agent, AgentHost, ConfirmationAnswer, KeptKey, MessageContext, TitleAnswer, UsageReport,
} from './agent.ts'
import { AgentRequests, type TitleByProfile } from './agent-requests.ts'
import { hasEventOf, readEvent } from './history.ts'
import type { AgentSecrets } from './agent-secrets.ts'
import type { Journal } from './journal.ts'
import { LiveTurn } from './live-turn.ts'
import { createHost } from './host.ts'
import { shownAgent } from './info.ts'
import { confirmationValue, Confirmations, type PendingConfirmation } from './questions.ts'
import type { KeyedRequest } from './requests.ts'
import { Runner, type StopReason, type TurnOpening } from './runner.ts'
import { storedEvent } from './stored-event.ts'
import { addFigures, hasFigures } from './usage-figures.ts'
import { UsageLedger } from './usage.ts'

export interface DriverOptions {
  readonly journal: Journal
  readonly log: ConversationLog
  readonly observationsDir: string
  readonly agentDir: string
  readonly clock: Clock
  readonly diagnostics: Log
  readonly nextFrameStamp: () => Stamp
  readonly confirmationDeadlineMs: number
  readonly stopLimitMs: number
  readonly createAgent: (host: AgentHost) => Agent
  readonly titleByProfile: TitleByProfile
  readonly secrets: AgentSecrets
  readonly mask: (text: string) => string
  readonly createMaskingStream: () => MaskingStream
  readonly onRunEnd: () => Promise<void>
  readonly onLogFailure: (cause: unknown) => Promise<void>
}

export class Driver {
  readonly #options: DriverOptions
  readonly #questions: Confirmations
  readonly #requests: AgentRequests
  #agent: Agent | undefined
  #runner: Runner | undefined
  #turn: LiveTurn | undefined
  readonly #ledger: UsageLedger
  #isClosed = false
  #introducing: Promise<void> | undefined
  /** The newest agent settings, durable or not. */
  #settings: JsonObject
  /** The newest recorded `agent_state`, durable or not. */
  #agentState: JsonObject
  /** The newest recorded `invoked_skills`, durable or not. */
  #invokedSkills: readonly string[]
  /** The newest private state that the agent kept, durable or not. */
  #kept: Readonly<Partial<Record<KeptKey, JsonObject>>>

  constructor(options: DriverOptions) {
    const { clock, confirmationDeadlineMs, journal } = options
    this.#options = options
    this.#settings = journal.state.agent
    this.#agentState = journal.state.agent_state
    this.#invokedSkills = journal.state.invoked_skills
    this.#kept = journal.state.kept
    this.#ledger = new UsageLedger(journal.state.stats)
    this.#questions = new Confirmations({
      clock,
      deadlineMs: confirmationDeadlineMs,
      onChange: (open) => this.#questionsChanged(open),
    })
    this.#requests = new AgentRequests({
      agent: () => this.#ensureAgent(),
      state: journal.state,
      titleByProfile: options.titleByProfile,
      isRunning: () => this.isRunning,
      woundUp: async () => (journal.status === 'running' ? undefined : this.settled()),
      budgetSpent: () => this.#budgetSpent(),
      record: (draft) => void journal.record(draft),
      count: (usage) => this.#report(() => this.#count(usage)),
    })
  }

  get isRunning(): boolean {
    return this.#runner?.isRunning ?? false
  }

  /** Starts a run; resolves when `running` is durable. Must not be called during a run. */
  async start(request?: KeyedRequest): Promise<void> {
    this.#ensureAgent()
    this.#runner ??= this.#createRunner()
    await this.#runner.start(request)
  }

  /** Starts a run, or a turn of the current run, for work that the agent began by itself. */
  async #beginOwn(): Promise<void> {
    if (this.#isClosed) throw new AppError('conflict', 'The conversation is being closed or deleted')
    this.#runner ??= this.#createRunner()
    await this.#runner.startOwn()
  }

  /** Has the newest message served by the current run or by a new one. A message approves no action (decisions 15). */
  async serve(request?: KeyedRequest): Promise<void> {
    const { journal } = this.#options
    if (!this.isRunning && journal.status !== 'waiting_for_confirmation') return this.start(request)
    if (this.isRunning) this.#runner?.supersede()
    if (request === undefined) return
    journal.answered(request)
    await journal.durable()
  }

  /** Stops the run and resolves when nothing of the run is left. */
  async stop(reason: StopReason): Promise<void> {
    await this.#runner?.stop(reason)
  }

  /** True when the agent can end a turn between two steps. The length of a step depends on its tools. */
  get isStepping(): boolean {
    return this.#agent?.isStepping === true
  }

  /** Records the agent's introduction before the first user message, once. */
  async introduce(): Promise<void> {
    const { journal, log } = this.#options
    const isNew = journal.state.last_user_message_id === null && journal.state.agent['kind'] === 'Agent'
    if (!isNew || hasEventOf(log, 'SystemPromptEvent')) return
    this.#introducing ??= this.#introduce().finally(() => (this.#introducing = undefined))
    await this.#introducing
  }

  async #introduce(): Promise<void> {
    const draft = await this.#ensureAgent().introduction?.()
    if (draft !== undefined) await this.#options.journal.record(draft).durable()
  }

  /** Returns the content and the skills that the agent adds to a message before it is recorded. */
  async contextOf(message: Message): Promise<MessageContext> {
    const nothing = { content: [], skills: [] }
    if (this.#options.journal.state.agent['kind'] !== 'Agent') return nothing
    return (await this.#ensureAgent().contextOf?.(message)) ?? nothing
  }

  /** Resolves when no run is under way. */
  async settled(): Promise<void> {
    await this.#runner?.settled()
  }

  /** Aborts the current turn, if any. */
  abortTurn(): void {
    this.#turn?.abort()
  }

  questions(): readonly PendingConfirmation[] {
    return this.#questions.list()
  }

  /** Answers one pending confirmation, or all. Returns false when none was pending. */
  answer(answer: ConfirmationAnswer, id: string | undefined): boolean {
    return this.#questions.answer(answer, id)
  }

  policyChanged(): void {
    this.#agent?.policyChanged()
  }

  /** Changes the agent's settings. Steps that begin later use the new settings. */
  set(change: (agent: JsonObject) => JsonObject): void {
    const { journal } = this.#options
    const next = change(this.#settings)
    if (next === this.#settings) return
    journal.keep(['agent', next])
    journal.update('agent', shownAgent(next, true))
    this.#settings = next
  }

  async switchModel(model: string, signal: AbortSignal): Promise<void> {
    await this.#ensureAgent().switchModel(model, signal)
  }

  async switchMode(mode: string, signal: AbortSignal): Promise<void> {
    await this.#ensureAgent().switchMode(mode, signal)
  }

  async switchOption(id: string, value: string, signal: AbortSignal): Promise<void> {
    await this.#ensureAgent().switchOption(id, value, signal)
  }

  askAside(question: string, signal: AbortSignal): Promise<string> {
    return this.#requests.askAside(question, signal)
  }

  condense(signal: AbortSignal): Promise<void> {
    return this.#requests.condense(signal)
  }

  /** See `AgentRequests.askTitle`. */
  askTitle(text: string, signal: AbortSignal): Promise<TitleAnswer | undefined> | undefined {
    return this.#requests.askTitle(text, signal)
  }

  /** See `AgentRequests.judgeGoal`. */
  judgeGoal(objective: string, signal: AbortSignal): Promise<GoalVerdict> {
    return this.#requests.judgeGoal(objective, signal)
  }

  /** Stops the run and closes the agent. */
  async close(reason: StopReason): Promise<void> {
    this.#isClosed = true
    await this.stop(reason)
    await this.#discardAgent()
  }

  async #discardAgent(): Promise<void> {
    const agent = this.#agent
    this.#agent = undefined
    try {
      await agent?.close()
    } catch (thrown) {
      this.#options.diagnostics.error('An agent could not be closed', { error: errorOf(thrown) })
    }
  }

  #ensureAgent(): Agent {
    this.#agent ??= this.#options.createAgent(this.#createHost())
    return this.#agent
  }

  #createHost(): AgentHost {
    return createHost({
      ...this.#options,
      settings: () => this.#settings,
      budgetSpent: () => this.#budgetSpent(),
      beginRun: () => this.#beginOwn(),
      kept: (key) => this.#kept[key],
      keep: (key, value) => this.#keep(key, value),
      state: (changes) => this.#agentStateChanged(changes),
      skillInvoked: (name) => this.#skillInvoked(name),
    })
  }

  #createRunner(): Runner {
    const { journal, diagnostics, clock, stopLimitMs, onRunEnd, onLogFailure } = this.#options
    return new Runner({
      journal,
      agent: () => this.#ensureAgent(),
      discardAgent: () => this.#discardAgent(),
      diagnostics,
      clock,
      stopLimitMs,
      readMessages: (ids) => this.#readMessages(ids),
      openTurn: (opening) => this.#openTurn(opening),
      budgetSpent: () => this.#budgetSpent(),
      onEnd: onRunEnd,
      onLogFailure,
    })
  }

  #openTurn(opening: TurnOpening): LiveTurn {
    const { journal, nextFrameStamp, createMaskingStream } = this.#options
    const count = (report: UsageReport): void => this.#count(report)
    const parts = { journal, questions: this.#questions, count, nextFrameStamp, createMaskingStream }
    this.#turn = new LiveTurn({ ...opening, ...parts })
    return this.#turn
  }

  /**
   * Publishes the usage figures of one step. `stats` cannot express unknown figures. `agent_state.usage` can: it is
   * published from the first known figure of the conversation on. Only the report is stored with each step, not the
   * rest of `agent_state` (its lists of models are long); the state is folded from the reports.
   */
  #count(report: UsageReport): void {
    const { journal } = this.#options
    const { usage } = this.#agentState
    if (hasFigures(report)) journal.update('stats', this.#ledger.add(report, journal.state.max_budget_per_task))
    if (!hasFigures(report) && usage === undefined) return
    this.#agentState = { ...this.#agentState, usage: addFigures(usage, report) }
    journal.keep(['usage', report])
  }

  /** Why no more may be spent; undefined while more may be spent. Steps of unknown cost count as free. */
  #budgetSpent(): string | undefined {
    const { max_budget_per_task: budget } = this.#options.journal.state
    const { cost } = this.#ledger
    if (budget === null || cost < budget) return undefined
    return `the conversation has cost $${cost.toFixed(4)}, its budget is $${budget}`
  }

  async #readMessages(ids: readonly string[]): Promise<MessageEvent[]> {
    const messages: MessageEvent[] = []
    for (const id of ids) {
      const json = await readEvent(this.#options.log, id)
      const event = json === undefined ? undefined : storedEvent(await parseOwnJsonBytes(json))
      if (event?.kind === 'MessageEvent') messages.push(event)
    }
    return messages
  }

  #keep(key: KeptKey, value: JsonObject): void {
    this.#kept = { ...this.#kept, [key]: value }
    this.#report(() => this.#options.journal.keep(['kept', { key, value }]))
  }

  #skillInvoked(name: string): void {
    if (this.#invokedSkills.includes(name)) return
    this.#invokedSkills = [...this.#invokedSkills, name]
    this.#report(() => this.#options.journal.update('invoked_skills', [...this.#invokedSkills]))
  }

  #agentStateChanged(changes: JsonObject): void {
    const value = { ...this.#agentState, ...changes }
    if (isDeepStrictEqual(value, this.#agentState)) return
    this.#agentState = value
    this.#report(() => this.#options.journal.update('agent_state', value))
  }

  #questionsChanged(open: readonly PendingConfirmation[]): void {
    const { journal } = this.#options
    this.#report(() => {
      journal.update('pending_confirmations', open.map(confirmationValue))
      if (open.length > 0) journal.move('asked')
      else if (this.#turn?.signal.aborted === false) journal.move('answered')
    })
  }

  /**
   * Runs `work`. When the log refuses the record, the turn ends; nothing is thrown into an agent, a timer or a signal.
   */
  #report(work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.#options.diagnostics.error('A report of an agent could not be recorded', { error: errorOf(cause) })
      this.#turn?.refuse(cause)
    }
  }
}
