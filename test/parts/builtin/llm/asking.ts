/** One call of a model, and the request that its server gets, for the clients of all providers. */
import { createModelClient } from '../../../../src/parts/builtin/llm/client.ts'
import type { ModelAnswer, ModelMessage } from '../../../../src/parts/builtin/llm/model.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import { withWireServer, type SeenRequest } from '../../../support/wire-server.ts'
import { vectorBytes } from './folding.ts'
import { user } from './messages.ts'

export interface Asking {
  complete(settings: LLMOptions, messages: readonly ModelMessage[]): Promise<ModelAnswer>
  /** Returns the request that a server at this base URL gets. */
  requestTo(path: string, settings?: LLMOptions): Promise<SeenRequest | undefined>
}

/** @param vector a short answer of the provider, in test/vectors/llm */
export function asking({ model, vector }: { readonly model: string; readonly vector: string }): Asking {
  const tools = [{ name: 'terminal', description: 'Runs a command', parameters: { type: 'object', properties: {} } }]
  const complete: Asking['complete'] = (settings, messages) => {
    return createModelClient(llmOf({ model, num_retries: 0, ...settings }))
      .complete({ messages, tools, signal: new AbortController().signal })
  }
  return {
    complete,
    async requestTo(path, settings = {}) {
      let seen: SeenRequest | undefined
      await withWireServer([{ chunks: [vectorBytes(vector)] }], async ({ url, requests }) => {
        await complete({ base_url: `${url}${path}`, ...settings }, [user('Hello')])
        seen = requests[0]
      })
      return seen
    },
  }
}
