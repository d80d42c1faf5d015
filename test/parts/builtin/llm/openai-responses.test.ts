/** The client for Responses: the contract suite. */
import { openAiResponses } from '../../../../src/parts/builtin/llm/openai-responses.ts'
import { createWireClient } from '../../../../src/parts/builtin/llm/wire.ts'
import { suite } from '../../../support/suite.ts'
import { contract, contractKey } from './contract.ts'

const test = suite('agents/llm/openai-responses')

contract(test, {
  vectors: 'openai-responses',
  settings: (url) => ({ model: 'openai/gpt-5.1', base_url: url }),
  create: (settings, deps) => {
    const target = { provider: 'OpenAI', baseUrl: settings.base_url ?? '', model: 'gpt-5.1', isOpenAi: true }
    return createWireClient(settings, openAiResponses(target, settings), deps)
  },
  keyHeader: ['authorization', `Bearer ${contractKey}`],
  usage: { promptTokens: 100, completionTokens: 20, cacheReadTokens: 30, reasoningTokens: 5 },
  origin: 'responses',
})

test.run()
