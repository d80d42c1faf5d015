/**
 * The built-in agent: a model that works with tools, step by step, from the history alone.
 *
 * It keeps nothing that is not in the log: its view of the history is read when the first turn needs it and grows with
 * the log, so an agent made after a restart goes on where the last one stopped. Tools and what they keep live until
 * `close()`.
 */
import { AppError } from '../../base/errors.ts'
import type { Clock } from '../../base/stamp.ts'
import type { Agent, AgentHost, AsideAnswer, History, Turn, TurnEnd } from '../../conversation/agent.ts'
import type { Agent as AgentSettings } from '../../schema/generated/conversations.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import type { Message, TextContent } from '../../schema/generated/values.ts'
import { ModelError, type ModelClient } from '../llm/model.ts'
import type { ToolSet } from '../tools/tool.ts'
import { askAside } from './aside.ts'
import type { HookSession } from './hooks/session.ts'
import { runLoop, type LoopOptions } from './loop.ts'
import { dynamicContext, systemPrompt } from './prompt.ts'
import { View } from './view.ts'

export interface BuiltInAgentOptions {
  readonly settings: AgentSettings
  readonly host: AgentHost
  /** @throws ModelError for settings that name no model */
  readonly createModel: () => ModelClient
  /** @throws AppError for settings that name no tools */
  readonly createTools: (signal: AbortSignal) => Promise<ToolSet>
  /** Of this agent alone, which closes them. */
  readonly hooks: HookSession
  readonly clock: Clock
}

export class BuiltInAgent implements Agent {
  readonly isStepping = true
  readonly #options: BuiltInAgentOptions
  readonly #history: History
  readonly #view = new View()
  readonly #closed = new AbortController()
  #tools: Promise<ToolSet> | undefined
  #closing: Promise<void> | undefined

  constructor(options: BuiltInAgentOptions) {
    this.#options = options
    this.#history = options.host.history()
  }

  async introduction(): Promise<EventDraft> {
    const { settings, host, hooks, clock } = this.#options
    await hooks.begin()
    const { tools, missing } = await this.#openTools()
    const context = dynamicContext({
      agent: settings,
      date: new Date(clock()).toISOString().slice(0, 10),
      workingDir: host.workingDir,
      secrets: await host.secretNames(),
      missingTools: missing,
    })
    return {
      kind: 'SystemPromptEvent',
      source: 'agent',
      system_prompt: { text: systemPrompt(settings) },
      tools: tools.map((tool) => tool.definition),
      dynamic_context: { text: host.mask(context) },
    }
  }

  contextOf(message: Message): Promise<readonly TextContent[]> {
    return this.#options.hooks.contextOf(message)
  }

  async runTurn(turn: Turn): Promise<TurnEnd> {
    const { settings, host, hooks } = this.#options
    const parts = await this.#openParts()
    if ('outcome' in parts) return parts
    return runLoop({
      ...parts,
      host,
      hooks,
      turn,
      history: this.#history,
      view: this.#view,
      llm: settings.llm,
      concurrencyLimit: settings.tool_concurrency_limit,
      introduction: () => this.introduction(),
    })
  }

  /** The policy is asked for at every step. */
  policyChanged(): void {}

  async switchModel(): Promise<void> {
    throw new AppError('bad_request', 'Cannot switch the model in this way: the conversation is not driven by an external agent')
  }

  async switchMode(): Promise<void> {
    throw new AppError('bad_request', 'Cannot switch the mode: the conversation is not driven by an external agent')
  }

  async askAside(question: string, signal: AbortSignal): Promise<AsideAnswer> {
    const { settings, host, createModel } = this.#options
    const { tools } = await this.#openTools()
    return askAside({ question, signal, host, tools, createModel, usageId: settings.llm.usage_id })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#closed.abort(new AppError('conflict', 'The conversation is being closed or deleted'))
    await this.#options.hooks.close()
    const toolSet = await this.#tools?.catch(() => undefined)
    await toolSet?.close()
  }

  /** What a turn works with, or why there is none: settings may name a model or tools that do not exist. */
  async #openParts(): Promise<Pick<LoopOptions, 'model' | 'tools'> | TurnEnd> {
    try {
      const { tools } = await this.#openTools()
      return { model: this.#options.createModel(), tools }
    } catch (thrown) {
      if (!(thrown instanceof ModelError) && !(thrown instanceof AppError)) throw thrown
      return { outcome: 'failed', served: false, code: thrown.code, detail: this.#options.host.mask(thrown.message) }
    }
  }

  #openTools(): Promise<ToolSet> {
    this.#tools ??= this.#options.createTools(this.#closed.signal)
    return this.#tools
  }
}
