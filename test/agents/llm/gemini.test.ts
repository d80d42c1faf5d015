/** The client for Gemini: the contract suite. */
import { gemini } from '../../../src/agents/llm/gemini.ts'
import { createWireClient } from '../../../src/agents/llm/wire.ts'
import { suite } from '../../support/suite.ts'
import { contract, contractKey } from './contract.ts'

const test = suite('agents/llm/gemini')

contract(test, {
  vectors: 'gemini',
  settings: (url) => ({ model: 'gemini/gemini-2.5-pro', base_url: url }),
  create: (settings, deps) => {
    const target = { provider: 'Gemini', baseUrl: settings.base_url ?? '', model: 'gemini-2.5-pro' }
    return createWireClient(settings, gemini(target, settings), deps)
  },
  keyHeader: ['x-goog-api-key', contractKey],
  usage: { promptTokens: 100, completionTokens: 20, cacheReadTokens: 30, reasoningTokens: 5 },
  origin: 'completion',
})

test.run()
