/** The client for Anthropic: the contract suite. */
import { anthropicMessages } from '../../../src/agents/llm/anthropic.ts'
import { createWireClient } from '../../../src/agents/llm/wire.ts'
import { suite } from '../../support/suite.ts'
import { contract, contractKey } from './contract.ts'

const test = suite('agents/llm/anthropic')

contract(test, {
  vectors: 'anthropic',
  settings: (url) => ({ model: 'anthropic/claude-sonnet-4-5', base_url: url }),
  create: (settings, deps) => {
    const target = { provider: 'Anthropic', baseUrl: settings.base_url ?? '', model: 'claude-sonnet-4-5' }
    return createWireClient(settings, anthropicMessages(target, settings), deps)
  },
  keyHeader: ['x-api-key', contractKey],
  usage: { promptTokens: 100, completionTokens: 20, cacheReadTokens: 30, cacheWriteTokens: 10, reasoningTokens: 5 },
  origin: 'completion',
})

test.run()
