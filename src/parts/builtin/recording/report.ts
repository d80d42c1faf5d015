/**
 * Records the usage, the token ids and the completion log of a model's answer.
 *
 * No event may come between an answer's last delta and its message: otherwise some clients show the text twice. So
 * token ids and completion log are recorded after the message.
 */
import type { AgentHost } from '../../../conversation/agent/host.ts'
import type { Turn } from '../../../conversation/agent/agent.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import type { ModelAnswer, ModelClient, ModelUsage } from '../llm/model.ts'
import { completionLog } from './completion-log.ts'
import { maskingWays } from './masked.ts'

/** The client of one step's model, and the settings that the client was made from. */
export interface ModelChoice {
  readonly llm: LLM
  readonly client: ModelClient
}

interface Reported {
  readonly host: Pick<AgentHost, 'mask' | 'maskingStream'>
  readonly turn: Pick<Turn, 'usage' | 'record'>
}

/** Records the usage. Returns a function to call after the answer's events: it records token ids and completion log. */
export async function report(
  answer: ModelAnswer, { llm, client: model }: ModelChoice, { turn, host }: Reported,
): Promise<() => void> {
  const { usage, tokenIds } = answer
  const { contextWindow } = model
  turn.usage({
    usageId: llm.usage_id, model: model.model, ...usage, ...(contextWindow === undefined ? {} : { contextWindow }),
    ...contextOf(usage),
  })
  const log = await completionLog(answer, { model: model.model, usageId: llm.usage_id, ways: maskingWays(host) })
  return () => {
    if (tokenIds !== undefined) {
      turn.record({
        kind: 'TokenEvent', source: 'agent', prompt_token_ids: tokenIds.prompt, response_token_ids: tokenIds.response,
      })
    }
    if (log !== undefined) turn.record(log)
  }
}

/** Returns `perTurnTokens`, the tokens of a call's prompt and completion; empty when `promptTokens` is unknown. */
function contextOf({ promptTokens, completionTokens = 0 }: ModelUsage): { readonly perTurnTokens?: number } {
  return promptTokens === undefined ? {} : { perTurnTokens: promptTokens + completionTokens }
}
