/**
 * The built-in agent: it calls a model and runs the tools that the model calls.
 *
 * After a restart, a new agent continues from the events in the log. The state of tools, such as a shell, ends at
 * `close()`.
 */
import { AppError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/stamp.ts'
import { untilAborted } from '../../base/wait.ts'
import type { AgentHost, History } from '../../conversation/agent/host.ts'
import type {
  Agent, AsideAnswer, CondensingWork, GoalJudgement, MessageContext, TitleAnswer, Turn, TurnEnd,
} from '../../conversation/agent/agent.ts'
import { summarizersOf } from '../../conversation/agent/condensers.ts'
import { blockedReason } from '../../conversation/log/blocked-message.ts'
import { textIn } from '../../conversation/log/message-text.ts'
import type { Agent as AgentSettings } from '../../schema/generated/conversations.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import type { LLM } from '../../schema/generated/llm.ts'
import type { Message } from '../../schema/generated/values.ts'
import { ModelError, type ModelClient } from './llm/model.ts'
import type { Hooks } from '../../agents/hooks.ts'
import type { Patch } from '../../offers.ts'
import type { ConversationSkills } from '../../agents/skills.ts'
import type { Tool, ToolSet } from '../../agents/tool.ts'
import { askAside } from './aside.ts'
import { Condenser } from './condensing/condenser.ts'
import { Pipeline } from './condensing/pipeline.ts'
import { Critic, criticLlm } from './critic.ts'
import { judgeGoal } from './goal-judge.ts'
import { judgeSettings } from './judgement.ts'
import { runLoop } from './loop.ts'
import { dynamicContext, systemPrompt } from './prompt.ts'
import type { CallCipher } from './recording/original-calls.ts'
import { makeTitle } from './title.ts'
import { View } from './view/view.ts'

export interface BuiltInAgentOptions {
  /** Returns the current settings: the same object until they change. */
  readonly settings: () => AgentSettings
  readonly host: AgentHost
  /** Makes the client of a model. @throws ModelError for the settings that `CreateModel` (create.ts) refuses */
  readonly createModel: (llm: LLM) => ModelClient
  readonly cipher: CallCipher
  /** Makes the tools of the conversation. @throws AppError for tools that cannot be made; the signal's reason */
  readonly createTools: (skills: ConversationSkills, signal: AbortSignal) => Promise<ToolSet>
  /** The hooks of the conversation. The agent closes them. */
  readonly hooks: Hooks
  /** Reads the skills and the memory that the settings name. @throws AppError, such as `part_missing` */
  readonly loadSkills: () => Promise<ConversationSkills>
  /**
   * Returns a `Patch`, which tells whether the workspace differs from the commit that is checked out now. If git or a
   * repository is missing, the workspace never differs.
   * @throws AppError `part_missing`, `bad_request` when git fails; the signal's reason
   */
  readonly openPatch: (signal: AbortSignal) => Promise<Patch>
  readonly clock: Clock
  readonly log: Log
  /** The value of `process.platform`. */
  readonly platform: string
}

export class BuiltInAgent implements Agent {
  readonly isStepping = true
  readonly #options: BuiltInAgentOptions
  readonly #history: History
  readonly #view = new View()
  #condenser: Pipeline | undefined
  /** Resolves when the last condensation that a client requested has ended. Never rejects. */
  #condensing: Promise<void> = Promise.resolve()
  readonly #closed = new AbortController()
  #tools: Promise<ToolSet> | undefined
  #skills: Promise<ConversationSkills> | undefined
  #model: { readonly llm: LLM; readonly client: ModelClient } | undefined
  #closing: Promise<void> | undefined

  constructor(options: BuiltInAgentOptions) {
    this.#options = options
    this.#history = options.host.history()
  }

  async introduction(): Promise<EventDraft> {
    const { host, hooks, clock, platform } = this.#options
    const settings = this.#options.settings()
    await hooks.begin()
    const { missing } = await this.#openTools()
    const { blocks } = await this.#openSkills()
    const context = dynamicContext({
      agent: settings,
      date: new Date(clock()).toISOString().slice(0, 10),
      platform,
      workingDir: host.workingDir,
      secrets: await host.secretNames(),
      missingTools: missing,
      blocks,
    })
    // List the tools last. The listing makes the states of the MCP servers be recorded in the next `setImmediate`, and
    // the system prompt has to be recorded first.
    const tools = await this.#toolsNow(this.#closed.signal)
    return {
      kind: 'SystemPromptEvent',
      source: 'agent',
      system_prompt: { text: host.mask(systemPrompt(settings)) },
      tools: tools.map((tool) => tool.definition),
      dynamic_context: { text: host.mask(context) },
    }
  }

  /** Returns the hooks' text for a message, and the skills that the message triggers; no skills if a hook blocks it. */
  async contextOf(message: Message): Promise<MessageContext> {
    const { hooks, host } = this.#options
    const content = await hooks.contextOf(message)
    if (blockedReason({ source: 'user', extended_content: content }) !== undefined) return { content, skills: [] }
    const called = (await this.#openSkills()).calledBy(textIn(message.content))
    return { content, skills: called.map(({ name, text }) => ({ name, text: host.mask(text) })) }
  }

  async runTurn(turn: Turn): Promise<TurnEnd> {
    const { settings, host, hooks, cipher, log } = this.#options
    const tools = await this.#turnTools()
    if ('outcome' in tools) return tools
    // Wait for a condensation that a client requested: it changes `#view`, and so does the turn.
    await untilAborted(this.#condensing, turn.signal).catch(() => undefined)
    return runLoop({
      tools,
      host,
      hooks,
      turn,
      cipher,
      log,
      history: this.#history,
      view: this.#view,
      condenser: this.#openCondenser(),
      llm: () => settings().llm,
      clientOf: (llm) => this.#clientOf(llm),
      critic: this.#createCritic(turn),
      concurrencyLimit: settings().tool_concurrency_limit,
      toolsNow: (signal) => this.#toolsNow(signal),
      introduction: () => this.introduction(),
    })
  }

  /** Tells the tools that the confirmation policy has changed. Does nothing without tools, or if making them failed. */
  policyChanged(): void {
    this.#tools?.then(({ tools }) => tools.forEach((tool) => tool.policyChanged?.()), () => undefined) // No tools.
  }

  async askAside(question: string, signal: AbortSignal): Promise<AsideAnswer> {
    const { host, settings } = this.#options
    const tools = await this.#toolsNow(signal)
    return askAside({ question, signal, host, tools, llm: settings().llm, clientOf: (llm) => this.#clientOf(llm) })
  }

  makeTitle(text: string, signal: AbortSignal): Promise<TitleAnswer> | undefined {
    const { settings, host, createModel } = this.#options
    return makeTitle({ text, signal, createModel, llm: settings().llm, mask: host.mask })
  }

  async judgeGoal(objective: string, signal: AbortSignal): Promise<GoalJudgement> {
    const { host, settings, createModel } = this.#options
    return judgeGoal({ objective, signal, host, client: createModel(judgeSettings(settings().llm)) })
  }

  async condense({ signal, usage, record }: CondensingWork): Promise<void> {
    const condenser = this.#openCondenser()
    if (condenser === undefined) {
      throw new AppError('bad_request', 'Cannot condense the history: the agent has no condenser')
    }
    const condensing = condenser.condense({ signal: AbortSignal.any([signal, this.#closed.signal]), usage, record })
    this.#condensing = condensing.catch(() => undefined) // The caller gets the error on the next line.
    await condensing
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#closed.abort(new AppError('conflict', 'The conversation is being closed or deleted'))
    await this.#options.hooks.close()
    const toolSet = await this.#tools?.catch(() => undefined) // Tools that could not be made are not closed.
    await toolSet?.close()
  }

  /** Returns the tools; a failed `TurnEnd` when the model's client or the tools cannot be made. */
  async #turnTools(): Promise<readonly Tool[] | TurnEnd> {
    try {
      this.#clientOf(this.#options.settings().llm)
      const { tools } = await this.#openTools()
      return tools
    } catch (thrown) {
      if (!(thrown instanceof ModelError) && !(thrown instanceof AppError)) throw thrown
      return { outcome: 'failed', served: false, code: thrown.code, detail: this.#options.host.mask(thrown.message) }
    }
  }

  #createCritic(turn: Turn): Critic {
    const { settings, host, createModel, log, openPatch } = this.#options
    const { critic, llm } = settings()
    const needsPatch = critic?.kind === 'EmptyPatchCritic' || critic?.kind === 'AgentFinishedCritic'
    const patch = needsPatch ? openPatch(turn.signal) : undefined
    patch?.catch(() => undefined) // `hasPatch` awaits `patch` and gets the error.
    return new Critic({
      settings: critic,
      hasPatch: async (signal) => (await patch)?.isEmpty(signal).then((isEmpty) => !isEmpty) ?? false,
      createClient: (chosen) => createModel(criticLlm(chosen, llm)),
      host,
      turn,
      log,
    })
  }

  /** Returns the pipeline of condensers, the same in each call; undefined while the settings name no condenser. */
  #openCondenser(): Pipeline | undefined {
    const { settings, host, createModel } = this.#options
    const made = summarizersOf(settings().condenser).map((first, place) => new Condenser({
      host, createModel,
      view: this.#view,
      history: this.#history,
      llm: () => settings().llm,
      settings: () => summarizersOf(settings().condenser)[place] ?? first,
    }))
    const [first, ...others] = made
    if (first === undefined) return undefined
    this.#condenser ??= new Pipeline(first, others)
    return this.#condenser
  }

  /** Returns the client of a model. Keeps the client for the next call with the same `llm` object. */
  #clientOf(llm: LLM): ModelClient {
    if (this.#model?.llm !== llm) this.#model = { llm, client: this.#options.createModel(llm) }
    return this.#model.client
  }

  async #toolsNow(signal: AbortSignal): Promise<readonly Tool[]> {
    const { tools, changing } = await this.#openTools()
    return changing === undefined ? tools : [...tools, ...(await changing(signal))]
  }

  /** Returns the skills. Only the first call reads them. If this reading fails, later calls get the same error. */
  #openSkills(): Promise<ConversationSkills> {
    this.#skills ??= this.#options.loadSkills()
    return this.#skills
  }

  #openTools(): Promise<ToolSet> {
    this.#tools ??= this.#openSkills().then((skills) => this.#options.createTools(skills, this.#closed.signal))
    return this.#tools
  }
}
