/** The requests to Anthropic: turns, blocks and their order, marks for the cache. */
import * as assert from 'uvu/assert'
import { anthropicBody } from '../../../../src/parts/builtin/llm/anthropic-request.ts'
import type { ModelMessage, ModelTool } from '../../../../src/parts/builtin/llm/model.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { llmOf, type LLMOptions } from '../../../support/llm.ts'
import type { Content, MessageToolCall } from '../../../../src/schema/generated/values.ts'
import { suite } from '../../../support/suite.ts'
import { image, sent, text, user } from './messages.ts'

const test = suite('agents/llm/anthropic-request')

interface Options {
  readonly settings?: LLMOptions
  readonly tools?: readonly ModelTool[]
  readonly model?: string
}

function bodyOf(
  messages: readonly ModelMessage[], { settings, tools = [], model = 'claude-sonnet-4-5' }: Options = {},
): JsonObject {
  const request = { messages, tools, signal: new AbortController().signal }
  return anthropicBody(request, model, llmOf({ reasoning_effort: 'none', caching_prompt: false, ...settings }))
}

const call = (id: string, args = '{}'): MessageToolCall => ({
  id, name: 'terminal', arguments: args, origin: 'completion',
})
const result = (id: string, ...content: readonly Content[]): ModelMessage =>
  sent({ role: 'tool', tool_call_id: id, content })
const thought = (thinking: string, signature?: string) =>
  ({ type: 'thinking' as const, thinking, ...(signature !== undefined && { signature }) })

test('asks for a stream of the model, with the system apart from the messages', () => {
  const body = bodyOf([sent({ role: 'system', content: [text('Be brief.'), text('Today is Monday.')] }), user('Hello')])
  assert.equal(body, {
    model: 'claude-sonnet-4-5',
    max_tokens: 32_000,
    stream: true,
    system: [{ type: 'text', text: 'Be brief.' }, { type: 'text', text: 'Today is Monday.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  })
})

test('describes tools by their JSON Schema', () => {
  const parameters = { type: 'object', properties: {} }
  const { tools } = bodyOf([user('Hello')], { tools: [{ name: 'think', description: 'Thinks', parameters }] })
  assert.equal(tools, [{ name: 'think', description: 'Thinks', input_schema: parameters }])
})

test('lets what the settings add to the body win', () => {
  const body = bodyOf([user('Hello')], { settings: { litellm_extra_body: { max_tokens: 7, service_tier: 'auto' } } })
  assert.is(body['max_tokens'], 7)
  assert.is(body['service_tier'], 'auto')
})

test('makes one turn of neighbours with the same role', () => {
  const { messages } = bodyOf([user('One'), user('Two'), sent({ role: 'assistant', content: [text('Three')] })])
  assert.equal(messages, [
    { role: 'user', content: [{ type: 'text', text: 'One' }, { type: 'text', text: 'Two' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Three' }] },
  ])
})

test('puts the results of all calls first in one turn, even when a user spoke before them', () => {
  const { messages } = bodyOf([
    user('Go'),
    sent({ role: 'assistant', tool_calls: [call('a', '{"command":"ls"}'), call('b')] }),
    user('Hurry'),
    result('a', text('one file')),
    result('b'),
  ])
  assert.equal(messages, [
    { role: 'user', content: [{ type: 'text', text: 'Go' }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'a', name: 'terminal', input: { command: 'ls' } },
        { type: 'tool_use', id: 'b', name: 'terminal', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'one file' }] },
        { type: 'tool_result', tool_use_id: 'b' },
        { type: 'text', text: 'Hurry' },
      ],
    },
  ])
})

test('makes ids of other providers fit, in a call and its result alike', () => {
  const sentBody = JSON.stringify(bodyOf([
    user('Go'), sent({ role: 'assistant', tool_calls: [call('functions.x:0')] }),
    sent({ role: 'tool', tool_call_id: 'functions.x:0' }),
    sent({ role: 'tool' }),
  ]))
  assert.ok(sentBody.includes('"id":"functions_x_0"'))
  assert.ok(sentBody.includes('"tool_use_id":"functions_x_0"'))
})

for (const broken of ['{"command": "l', '"text"', '[1]', '']) {
  test(`sends arguments that are no object (${broken}) as an empty one`, () => {
    const { messages } = bodyOf([sent({ role: 'assistant', tool_calls: [call('a', broken)] })])
    assert.equal(messages, [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'terminal', input: {} }] },
    ])
  })
}

test('sends images of users and of tools, as bytes or as an address', () => {
  const { messages } = bodyOf([
    user('Look', 'data:image/png;base64,AAAA', 'https://example.org/a.png'),
    result('a', image('data:image/jpeg;base64,BBBB', 'data:text/plain,plain')),
  ])
  assert.equal(messages, [{
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'BBBB' } },
          { type: 'image', source: { type: 'url', url: 'data:text/plain,plain' } },
        ],
      },
      { type: 'text', text: 'Look' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
    ],
  }])
})

test('leaves out blank texts, turns of nothing but thinking, and thinking that nobody has signed', () => {
  const { messages } = bodyOf([
    user('One'),
    sent({ role: 'assistant', content: [text('\n\n')], thinking_blocks: [thought('Hm', 'sig')] }),
    user(' '),
    user('Two'),
    sent({ role: 'assistant', content: [text('Three')], thinking_blocks: [thought('Hm')] }),
  ])
  assert.equal(messages, [
    { role: 'user', content: [{ type: 'text', text: 'One' }, { type: 'text', text: 'Two' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Three' }] },
  ])
})

const answer = {
  role: 'assistant' as const,
  content: [text('Looking.')],
  thinking_blocks: [thought('First', 's1'), { type: 'redacted_thinking' as const, data: 'r1' }],
  tool_calls: [call('a')],
}
const first = { type: 'thinking', thinking: 'First', signature: 's1' }
const redacted = { type: 'redacted_thinking', data: 'r1' }
const looking = { type: 'text', text: 'Looking.' }
const use = { type: 'tool_use', id: 'a', name: 'terminal', input: {} }

test('sends signed and redacted thinking back unchanged and first', () => {
  assert.equal(bodyOf([sent(answer)])['messages'], [{ role: 'assistant', content: [first, redacted, looking, use] }])
})

test('sends thinking back in the place that the state tells', () => {
  const state = { anthropic: { order: ['thinking', 'text', 'thinking', 'tool_use'] } }
  assert.equal(bodyOf([sent(answer, state)])['messages'], [
    { role: 'assistant', content: [first, looking, redacted, use] },
  ])
})

for (const state of [
  { anthropic: { order: ['thinking', 'text', 'tool_use'] } },
  { anthropic: { order: ['text', 'thinking', 'thinking', 'tool_use', 'novel', 7].slice(4) } },
  { anthropic: 'none' },
  { gemini: { parts: [] } },
]) {
  test(`keeps the usual order when the state is not of this message: ${JSON.stringify(state)}`, () => {
    assert.equal(bodyOf([sent(answer, state)])['messages'], [
      { role: 'assistant', content: [first, redacted, looking, use] },
    ])
  })
}

test('thinks within a budget only in a turn that began with thinking', () => {
  const settings = { reasoning_effort: 'high' }
  const unsigned = sent({ role: 'assistant', tool_calls: [call('a')] })
  assert.equal(bodyOf([user('Go'), sent(answer), result('a'), unsigned, result('a')], { settings })['thinking'], {
    type: 'enabled', budget_tokens: 16_000,
  })
  assert.is(bodyOf([user('Go'), unsigned, result('a')], { settings })['thinking'], undefined)
  assert.equal(bodyOf([user('Go'), unsigned, result('a')], { settings, model: 'claude-opus-4-6' })['thinking'], {
    type: 'adaptive', display: 'summarized',
  })
})

const cached = {
  settings: { caching_prompt: true }, tools: ['one', 'two'].map((name) => ({ name, description: '', parameters: {} })),
}

/** The names or texts of the blocks that are marked. */
function marksOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'cache_control' in value
    ? [JSON.stringify('text' in value ? value.text : 'name' in value ? value.name : value)]
    : []
  return [...own, ...Object.values(value).flatMap(marksOf)]
}

test('marks the system, the last tool and the two newest turns of the user for the cache', () => {
  const body = bodyOf([
    sent({ role: 'system', content: [text('A'), text('B')] }), user('1'),
    sent({ role: 'assistant', content: [text('2')] }),
    user('3'), sent({ role: 'assistant', content: [text('4')] }), user('5'), user('6'),
  ], cached)
  assert.equal(marksOf(body), ['"B"', '"two"', '"3"', '"6"'])
})

test('honours the marks of the messages first, and never sends more than four', () => {
  const mark = (value: string): Content => ({ ...text(value), cache_prompt: true })
  const body = bodyOf([
    sent({ role: 'system', content: [mark('A'), text('B')] }),
    sent({ role: 'user', content: [mark('1'), text('2')] }),
    sent({ role: 'assistant', content: [mark('3')] }),
    sent({ role: 'user', content: [mark('4'), text('5')] }),
  ], cached)
  assert.equal(marksOf(body), ['"A"', '"3"', '"4"', '"5"'])
})

test('marks the result of a tool for what is marked within it', () => {
  const marked: Content = {
    cache_prompt: true, type: 'image', image_urls: ['https://example.org/1', 'https://example.org/2'],
  }
  const { messages } = bodyOf([
    user('0'), sent({ role: 'assistant', tool_calls: [call('a')] }), result('a', marked),
    sent({ role: 'assistant', content: [text('1')] }), sent({ role: 'user', content: [marked] }),
  ], { settings: { caching_prompt: true } })
  assert.is(JSON.stringify(messages).split('cache_control').length - 1, 2)
  assert.ok(JSON.stringify(messages).includes('{"type":"url","url":"https://example.org/2"}}],"cache_control"'))
})

test('sends no mark when the prompt shall not be cached', () => {
  const body = bodyOf([sent({ role: 'user', content: [{ ...text('1'), cache_prompt: true }] })])
  assert.equal(marksOf(body), [])
})

test.run()
