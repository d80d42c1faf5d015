/**
 * A model that a test scripts step by step: answers, errors, or a wait until it is aborted. It keeps the requests that
 * it got.
 */
import {
  ModelError, type ModelAnswer, type ModelClient, type ModelErrorCode, type ModelRequest,
} from '../../src/parts/builtin/llm/model.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { toMessage } from '../../src/schema/generated/values.ts'

/** The answer of the model to one call. */
export type ModelStep = (request: ModelRequest, number: number) => ModelAnswer | Promise<ModelAnswer>

export interface ScriptModel extends ModelClient {
  readonly requests: ModelRequest[]
  readonly steps: ModelStep[]
}

/** Without a step left it says "done". */
export function scriptModel(steps: readonly ModelStep[], traits: Partial<ModelClient> = {}): ScriptModel {
  const requests: ModelRequest[] = []
  const left = [...steps]
  return {
    model: 'test/script',
    takesImages: undefined,
    contextWindow: undefined,
    ...traits,
    requests,
    steps: left,
    async complete(request) {
      request.signal.throwIfAborted()
      requests.push(request)
      return (left.shift() ?? text('done'))(request, requests.length)
    },
  }
}

export function text(content: string, more: Partial<ModelAnswer> = {}): ModelStep {
  return (request, number) => {
    request.onDelta?.({ content })
    return { ...answer(number, { role: 'assistant', content }), ...more }
  }
}

/** One answer with these calls; arguments that are no text are encoded. */
export function calls(list: readonly (readonly [name: string, args: JsonObject | string])[], thought = ''): ModelStep {
  return (_request, number) => {
    const tool_calls = list.map(([name, args], place) => {
      const encoded = typeof args === 'string' ? args : JSON.stringify(args)
      return { id: `call-${number}-${place + 1}`, name, arguments: encoded, origin: 'completion' as const }
    })
    return {
      ...answer(number, { role: 'assistant', content: thought === '' ? [] : thought, tool_calls }), stop: 'tool_calls',
    }
  }
}

export function fails(code: ModelErrorCode): ModelStep {
  return () => {
    throw new ModelError(code, `failed with ${code}`)
  }
}

/** Answers nothing until it is aborted. */
export const hangs: ModelStep = ({ signal }) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

export function answer(number: number, message: Parameters<typeof toMessage>[0]): ModelAnswer {
  return {
    id: `response-${number}`,
    message: toMessage(message),
    stop: 'end',
    usage: { promptTokens: 10, completionTokens: 5 },
  }
}
