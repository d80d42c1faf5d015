/**
 * The model of the built-in agent in a run of the published page: a stand-in whose next step follows from the prompt.
 */
import type { ModelServer } from '../../test/fixtures/model-server.ts'
import type { ModelStep, ModelToolCall } from '../../test/fixtures/model-step.ts'
import { startOpenAiModel } from '../../test/fixtures/openai-model.ts'

/** Starts the stand-in. It speaks OpenAI's API below `/v1`. */
export function startGuiModel(): Promise<ModelServer> {
  let isStory = false
  const script = (prompt: string): readonly ModelStep[] => {
    isStory = prompt.includes('a long story')
    return isStory ? [{ text: story }] : stepsOf(prompt)
  }
  // A story is written as fast as a model writes.
  return startOpenAiModel({ script, pace: () => (isStory ? { tokensPerSecond: 40 } : undefined) })
}

const story = Array.from({ length: 40 }, (_, index) => {
  return `This is chapter ${index + 1} of the story, in which somebody went out to see what there was to be seen.`
}).join('\n\n')

function stepsOf(prompt: string): readonly ModelStep[] {
  const [, address] = /open (http\S+)/.exec(prompt) ?? []
  if (address !== undefined) {
    return [
      { toolCall: { name: 'browser_navigate', input: { url: address } } },
      { toolCall: { name: 'browser_get_state', input: { include_screenshot: true } } },
      { text: 'The page is open.' },
    ]
  }
  if (prompt.includes('the same again')) return Array.from({ length: 9 }, () => ({ toolCall: command('echo same') }))
  if (prompt.includes('two commands')) {
    const [toolCall, second] = [command('echo first-of-two', 'HIGH'), command('echo second-of-two', 'HIGH')]
    return [{ toolCall, moreToolCalls: [second] }, { text: 'Both commands were answered.' }]
  }
  if (prompt.includes('a command')) return [{ toolCall: command('echo from-the-terminal') }, { text: 'It ran.' }]
  return [{ text: `You said: ${prompt.slice(0, 100)}` }]
}

function command(text: string, risk: 'LOW' | 'HIGH' = 'LOW'): ModelToolCall {
  return { name: 'terminal', input: { command: text, summary: text, security_risk: risk } }
}
