/**
 * A model that the embedding program (the host) provides, as a `ModelClient` (agents/from-host.ts).
 *
 * An error or wrong result of the host becomes a ModelError. After an abort, the signal's reason is thrown. No call is
 * repeated.
 */
import { randomUUID } from 'node:crypto'
import type { HostModel, HostModelAnswer } from '../../../agents/from-host.ts'
import { errorOf } from '../../../base/errors.ts'
import { isObject } from '../../../base/json.ts'
import type { Log } from '../../../base/log.ts'
import { toMessage } from '../../../schema/generated/values.ts'
import { ModelError, type ModelAnswer, type ModelClient, type ModelRequest } from './model.ts'

export function createHostModel(name: string, model: HostModel, log: Log): ModelClient {
  return {
    model: name,
    takesImages: undefined,
    contextWindow: undefined,
    async complete(request) {
      request.signal.throwIfAborted()
      try {
        const answer = await model(callOf(request))
        assertAnswer(name, answer)
        return answerOf(answer)
      } catch (thrown) {
        request.signal.throwIfAborted()
        log.error('A model of the host has failed', { model: name, error: errorOf(thrown) })
        throw new ModelError('LLMServiceUnavailableError', errorOf(thrown).message, { cause: thrown })
      }
    },
  }
}

/** Checks an answer at run time, because a host may be written in JavaScript. @throws TypeError */
function assertAnswer(name: string, answer: unknown): void {
  if (isObject(answer)) {
    const { text, calls } = answer
    const isCall = (call: unknown): boolean =>
      isObject(call) && typeof call['name'] === 'string' && isObject(call['arguments'])
    const areCalls = calls === undefined || (Array.isArray(calls) && calls.every(isCall))
    if (areCalls && (text === undefined || typeof text === 'string')) return
  }
  const expected = 'expected { text }, a string, or { calls }, a list of { name, arguments }'
  throw new TypeError(`The model "${name}" of the host gave a wrong answer: ${expected}`)
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
