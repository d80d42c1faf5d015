/**
 * Asks the model a side question about the conversation. The history stays unchanged.
 *
 * No tool is executed. The request lists the tools, because some providers refuse tool calls in the history of a
 * request without tools.
 */
import { AppError } from '../../base/errors.ts'
import type { AgentHost } from '../../conversation/agent/host.ts'
import type { AsideAnswer } from '../../conversation/agent/agent.ts'
import { textIn } from '../../conversation/log/message-text.ts'
import type { LLM } from '../../schema/generated/llm.ts'
import { toMessage } from '../../schema/generated/values.ts'
import { ModelError, type ModelAnswer, type ModelClient } from './llm/model.ts'
import type { Tool } from '../../agents/tool.ts'
import { modelTool } from './calls/tool-calls.ts'
import { View } from './view/view.ts'

export interface AsideOptions {
  readonly question: string
  readonly signal: AbortSignal
  readonly host: AgentHost
  readonly tools: readonly Tool[]
  readonly llm: LLM
  /** Returns the client of a model. @throws ModelError */
  readonly clientOf: (llm: LLM) => ModelClient
}

/** Returns the model's answer. @throws AppError `agent_failed` when there is no answer; the signal's reason */
export async function askAside({ question, signal, host, tools, llm, clientOf }: AsideOptions): Promise<AsideAnswer> {
  const view = new View()
  view.add(await host.history().next())
  const text = `Answer this question from what you know, in words and without calling a tool:\n\n${question}`
  const messages = [...view.messages({ withImages: false }), { message: toMessage({ role: 'user', content: text }) }]
  try {
    const client = clientOf(llm)
    const answer = await client.complete({
      messages,
      tools: tools.map(modelTool),
      signal,
      cacheKey: host.conversationId,
    })
    return { text: host.mask(textOf(answer)), usage: { usageId: llm.usage_id, model: client.model, ...answer.usage } }
  } catch (thrown) {
    if (thrown instanceof ModelError) throw new AppError('agent_failed', host.mask(thrown.message))
    throw thrown
  }
}

function textOf({ message }: ModelAnswer): string {
  const text = textIn(message.content).trim()
  if (text === '') throw new AppError('agent_failed', 'The model returned no text')
  return text
}
