/**
 * A model that the embedding program provides, as a `ModelClient` (`agents/from-host`).
 *
 * An error of the host's function becomes a ModelError. Failed calls are not repeated.
 */
import { randomUUID } from 'node:crypto'
import type { HostModel, HostModelAnswer } from '../../../agents/from-host.ts'
import { errorOf } from '../../../base/errors.ts'
import { toMessage } from '../../../schema/generated/values.ts'
import { ModelError, type ModelAnswer, type ModelClient, type ModelRequest } from './model.ts'

export function createHostModel(name: string, model: HostModel): ModelClient {
  return {
    model: name,
    takesImages: undefined,
    contextWindow: undefined,
    async complete(request) {
      request.signal.throwIfAborted()
      try {
        return answerOf(await model(callOf(request)))
      } catch (thrown) {
        request.signal.throwIfAborted()
        throw new ModelError('LLMServiceUnavailableError', errorOf(thrown).message, { cause: thrown })
      }
    },
  }
}

function callOf({ messages, tools, signal, onDelta, partial }: ModelRequest): Parameters<HostModel>[0] {
  partial?.begin()
  return {
    messages: messages.map(({ message }) => message),
    tools,
    signal,
    onText(content) {
      partial?.add({ content })
      onDelta?.({ content })
    },
  }
}

function answerOf({ text = '', calls = [], usage = {} }: HostModelAnswer): ModelAnswer {
  const toolCalls = calls.map(({ name, arguments: args }) => {
    return { id: randomUUID(), name, arguments: JSON.stringify(args), origin: 'completion' } as const
  })
  return {
    id: randomUUID(),
    message: toMessage({
      role: 'assistant',
      content: text === '' ? [] : [{ type: 'text', text }],
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    }),
    stop: toolCalls.length === 0 ? 'end' : 'tool_calls',
    usage,
  }
}
