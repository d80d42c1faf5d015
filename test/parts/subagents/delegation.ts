/** A conversation whose model gives tasks to sub-agents: both follow the script of their own prompt, over HTTP. */
import { startAnthropicModel } from '../../fixtures/anthropic-model.ts'
import type { ModelServer } from '../../fixtures/model-server.ts'
import type { ModelStep } from '../../fixtures/model-step.ts'
import type { Pace } from '../../fixtures/pace.ts'
import { startTalk, talkTo, type JsonEvent, type Talk } from '../../e2e/talk.ts'
import { until } from '../../support/processes.ts'
import { listAt, textAt } from '../../support/rest.ts'
import type { Reachable } from '../../support/server.ts'

export type Scripts = Readonly<Record<string, readonly ModelStep[]>>

/** About 50 tokens a second, the speed of a real model. */
export const realPace: Pace = { tokensPerSecond: 50 }

/** A model whose steps depend on the prompt alone. */
export function modelOf(scripts: Scripts, pace?: Pace): Promise<ModelServer> {
  return startAnthropicModel({ script: (prompt) => scripts[prompt] ?? [], pace: () => pace })
}

export function task(prompt: string, more: Readonly<Record<string, unknown>> = {}): ModelStep {
  return { toolCall: { name: 'task', input: { prompt, description: `do ${prompt}`, ...more } } }
}

export function terminal(command: string, more: Readonly<Record<string, unknown>> = {}): ModelStep {
  return { toolCall: { name: 'terminal', input: { command, ...more } } }
}

export function agentFor(model: ModelServer, more: object = {}): object {
  return {
    kind: 'Agent',
    llm: {
      model: 'anthropic/claude-test', base_url: model.url, api_key: 'key-of-the-model', num_retries: 0, stream: true,
      input_cost_per_token: 0.001, output_cost_per_token: 0.001,
    },
    tools: [{ name: 'terminal' }, { name: 'file_editor' }, { name: 'task_tool_set' }],
    ...more,
  }
}

export function talkWith(server: Reachable, model: ModelServer, request: object = {}): Promise<Talk> {
  return startTalk(server, { agent: agentFor(model), ...request })
}

/** The conversations below one, in the order of their creation. */
export async function childrenOf(server: Reachable, talk: Talk): Promise<Talk[]> {
  const { json } = await talk.get()
  const ids: unknown = Object(json).sub_conversation_ids
  return Array.isArray(ids) ? ids.map((id) => talkTo(server, String(id))) : []
}

/** Waits for as many sub-agents. */
export async function childrenWhen(server: Reachable, talk: Talk, count: number): Promise<Talk[]> {
  await until(async () => (await childrenOf(server, talk)).length === count)
  return childrenOf(server, talk)
}

/** The texts of the results of `task`, in order. */
export function resultsOf(events: readonly JsonEvent[]): string[] {
  return events.filter((event) => event['kind'] === 'ObservationEvent' && event['tool_name'] === 'task')
    .map((event) => textAt(listAt(event, 'observation', 'content')[0], 'text'))
}
