/**
 * The built-in agent: a model that works with tools, step by step, from the history alone.
 *
 * It keeps nothing that is not in the log: its view of the history is read when the first turn needs it and grows with
 * the log, so an agent made after a restart goes on where the last one stopped. Tools and what they keep live until
 * `close()`.
 */
import { AppError } from '../../base/errors.ts'
import type { Clock } from '../../base/stamp.ts'
import type { Agent, AgentHost, History, Turn, TurnEnd } from '../../conversation/agent.ts'
import type { Agent as AgentSettings } from '../../schema/generated/conversations.ts'
import type { EventDraft } from '../../schema/generated/events.ts'
import type { ModelClient } from '../llm/model.ts'
import type { ToolSet } from '../tools/tool.ts'
import { runLoop } from './loop.ts'
import { dynamicContext, systemPrompt } from './prompt.ts'
import { View } from './view.ts'

export interface BuiltInAgentOptions {
  readonly settings: AgentSettings
  readonly host: AgentHost
  readonly model: ModelClient
  readonly toolSet: ToolSet
  readonly clock: Clock
}

export class BuiltInAgent implements Agent {
  readonly isStepping = true
  readonly #options: BuiltInAgentOptions
  readonly #history: History
  readonly #view = new View()
  #closing: Promise<void> | undefined

  constructor(options: BuiltInAgentOptions) {
    this.#options = options
    this.#history = options.host.history()
  }

  async introduction(): Promise<EventDraft> {
    const { settings, host, toolSet, clock } = this.#options
    const secrets = await host.secrets(AbortSignal.timeout(secretsLimitMs))
    const context = dynamicContext({
      agent: settings,
      date: new Date(clock()).toISOString().slice(0, 10),
      workingDir: host.workingDir,
      secretNames: [...secrets.keys()].sort(),
    })
    return {
      kind: 'SystemPromptEvent',
      source: 'agent',
      system_prompt: { text: systemPrompt(settings) },
      tools: toolSet.tools.map((tool) => tool.definition),
      dynamic_context: { text: host.mask(context) },
    }
  }

  runTurn(turn: Turn): Promise<TurnEnd> {
    const { settings, host, model, toolSet } = this.#options
    return runLoop({
      host,
      turn,
      model,
      history: this.#history,
      view: this.#view,
      llm: settings.llm,
      tools: toolSet.tools,
      concurrencyLimit: settings.tool_concurrency_limit,
      introduction: () => this.introduction(),
    })
  }

  /** The policy is asked for at every step. */
  policyChanged(): void {}

  async switchModel(): Promise<void> {
    throw new AppError('bad_request', 'Cannot switch the model in this way: the conversation is not driven by an external agent')
  }

  close(): Promise<void> {
    this.#closing ??= this.#options.toolSet.close()
    return this.#closing
  }
}

/** A secret may have to be looked up elsewhere; its name is known even when that takes too long. */
const secretsLimitMs = 10_000
