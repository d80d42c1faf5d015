/** Bodies whose history repeats: the same as one made anew, in bytes that are kept. */
import * as assert from 'uvu/assert'
import { BodyEncoder } from '../../../../src/parts/builtin/llm/body-encoder.ts'
import { wireOf } from '../../../../src/parts/builtin/llm/client.ts'
import type { ModelMessage, ModelRequest } from '../../../../src/parts/builtin/llm/model.ts'
import type { Wire } from '../../../../src/parts/builtin/llm/wire.ts'
import { toLLM } from '../../../../src/schema/generated/llm.ts'
import { suite } from '../../../support/suite.ts'
import { image, sent, text, user } from './messages.ts'

const test = suite('agents/llm/body-encoder')

const models = ['anthropic/claude-sonnet-4-5', 'openai/gpt-4.1', 'openai/gpt-5.5', 'gemini/gemini-3-pro']

function wireFor(model: string): Wire {
  const apiMode = model.includes('5.5') ? 'responses' : 'auto'
  return wireOf(toLLM({ model, api_key: 'none', api_mode: apiMode, reasoning_effort: 'high' }))
}

function requestOf(messages: readonly ModelMessage[]): ModelRequest {
  const tools = [{ name: 'glob', description: 'Finds', parameters: { type: 'object' } }]
  return { messages, tools, signal: new AbortController().signal, cacheKey: 'c' }
}

function parsed(pieces: readonly Uint8Array[]): unknown {
  return JSON.parse(Buffer.concat(pieces).toString())
}

const system = sent({ role: 'system', content: [text('Be brief.')] })
const picture = image('data:image/png;base64,AAAA')

/** Returns the messages of a step: its calls, and the messages that may come before the next step. */
function step(number: number): ModelMessage[] {
  const ids = number % 4 === 3 ? [`a${number}`, `b${number}`] : [`a${number}`]
  const thinking = { type: 'thinking' as const, thinking: `Thought ${number}`, signature: 'c2ln' }
  const answer = sent({
    role: 'assistant',
    content: number % 3 === 0 ? [] : [text(`Step "${number}" \u2028 é`)],
    tool_calls: ids.map((id) => ({ id, name: 'glob', arguments: '{"pattern":"*"}', origin: 'completion' as const })),
    thinking_blocks: number % 5 === 0 ? [] : [thinking],
  }, number % 2 === 0
    ? { openai_responses: { items: [{ type: 'reasoning', id: `r${number}`, encrypted_content: 'x' }] } }
    : undefined)
  const results = ids.map((id) => {
    return sent({
      role: 'tool', tool_call_id: id, content: number % 6 === 5 ? [text('Seen'), picture] : [text('None')],
    })
  })
  return [answer, ...results, ...between(number)]
}

function between(number: number): ModelMessage[] {
  switch (number % 7) {
    case 2:
      return [user('And this', 'https://example.org/a.png')]
    case 3:
      return [sent({ role: 'assistant', content: [text('Done so far.')] }), user('Go on')]
    case 4:
      return [sent({ role: 'assistant', content: [text(' ')] })]
    case 6:
      return [
        sent({ role: 'assistant', content: [text('One')] }),
        sent({ role: 'assistant', content: [text('Two')] }),
        user('Why?'),
        user('Yes'),
      ]
    default:
      return []
  }
}

function history(steps: number): ModelMessage[] {
  return [system, user('Begin'), ...Array.from({ length: steps }, (_, number) => step(number)).flat()]
}

for (const model of models) {
  test(`${model}: at every length of a history the body is the one that is made of all messages`, () => {
    const wire = wireFor(model)
    const encoder = new BodyEncoder(wire)
    const messages = history(30)
    for (let length = 1; length <= messages.length; length++) {
      const request = requestOf(messages.slice(0, length))
      assert.equal(
        parsed(encoder.encode(request)), JSON.parse(JSON.stringify(wire.bodyOf(request))), `after ${length} messages`,
      )
    }
  })

  test(`${model}: a history that is another one, or was cut back, is begun anew`, () => {
    const wire = wireFor(model)
    const encoder = new BodyEncoder(wire)
    const messages = history(12)
    encoder.encode(requestOf(messages))
    for (const other of [[system, user('Other'), ...messages.slice(2)], messages.slice(0, 9), messages, [], [system]]) {
      const request = requestOf(other)
      assert.equal(parsed(encoder.encode(request)), JSON.parse(JSON.stringify(wire.bodyOf(request))))
    }
  })
}

test('each message is put into the form of the provider once, but for those at the end', () => {
  const wire = wireFor('anthropic/claude-sonnet-4-5')
  let converted = 0
  const bodyOf: Wire['bodyOf'] = (request, from = 0) => {
    converted += request.messages.length - from
    return wire.bodyOf(request, from)
  }
  const itemsOf: Wire['itemsOf'] = (messages) => {
    converted += messages.length
    return wire.itemsOf(messages)
  }
  const encoder = new BodyEncoder({ historyMember: wire.historyMember, bodyOf, itemsOf })
  const messages = history(210)
  let length = 2
  const costs = Array.from({ length: 210 }, (_, number) => {
    const before = converted
    length += step(number).length
    encoder.encode(requestOf(messages.slice(0, length)))
    return converted - before
  })
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  // The steps repeat after 84.
  assert.is(sum(costs.slice(126)), sum(costs.slice(42, 126)))
})

test('the bytes of the beginning are the same buffers from request to request, and few', () => {
  const encoder = new BodyEncoder(wireFor('openai/gpt-4.1'))
  const messages = history(400)
  for (let length = 1; length < messages.length; length += 3) encoder.encode(requestOf(messages.slice(0, length)))
  const [, ...before] = encoder.encode(requestOf(messages.slice(0, -1)))
  const [, ...after] = encoder.encode(requestOf(messages))
  assert.ok(before.length > 2 && before.length < 10, `${before.length} pieces`)
  assert.is(after[0], before[0])
})

test('a mark for the prompt cache keeps what follows it outside, since marks are weighed anew each time', () => {
  const wire = wireFor('anthropic/claude-sonnet-4-5')
  const encoder = new BodyEncoder(wire)
  const marks = [2, 5, 9, 14].map((place) => {
    return sent({ role: 'user', content: [{ ...text(`Mark ${place}`), cache_prompt: true }] })
  })
  const messages = history(20).flatMap((message, index) => {
    return (index % 9 === 8 ? [message, marks[(index - 8) / 9] ?? system] : [message])
  })
  for (let length = 1; length <= messages.length; length++) {
    const request = requestOf(messages.slice(0, length))
    assert.equal(
      parsed(encoder.encode(request)), JSON.parse(JSON.stringify(wire.bodyOf(request))), `after ${length} messages`,
    )
  }
})

test.run()
