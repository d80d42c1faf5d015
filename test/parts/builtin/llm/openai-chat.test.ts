/** The client for Chat Completions: the contract suite. */
import { openAiChat } from '../../../../src/parts/builtin/llm/openai-chat.ts'
import { createWireClient } from '../../../../src/parts/builtin/llm/wire.ts'
import { suite } from '../../../support/suite.ts'
import { contract, contractKey } from './contract.ts'

const test = suite('agents/llm/openai-chat')

contract(test, {
  vectors: 'openai-chat',
  settings: (url) => ({ model: 'openai/gpt-4.1', base_url: url }),
  create: (settings, deps) => {
    const target = { provider: 'OpenAI', baseUrl: settings.base_url ?? '', model: 'gpt-4.1', isOpenAi: true }
    return createWireClient(settings, openAiChat(target, settings), deps)
  },
  keyHeader: ['authorization', `Bearer ${contractKey}`],
  usage: { promptTokens: 100, completionTokens: 20, cacheReadTokens: 30, reasoningTokens: 5 },
  origin: 'completion',
})

test.run()
