/** Answers of Chat Completions that only some servers give. */
import * as assert from 'uvu/assert'
import { ModelError } from '../../../../src/parts/builtin/llm/model.ts'
import { foldChat } from '../../../../src/parts/builtin/llm/openai-chat-answer.ts'
import type { FoldedAnswer } from '../../../../src/parts/builtin/llm/wire.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { suite } from '../../../support/suite.ts'
import { text } from './messages.ts'

const test = suite('agents/llm/openai-chat-answer')

function startFold(): ReturnType<typeof foldChat> {
  let made = 0
  return foldChat({
    newId: () => `made-${++made}`,
    failureOf: (body) => new ModelError('LLMServiceUnavailableError', JSON.stringify(body)),
    limitParts: () => undefined,
  })
}

function read(...events: readonly JsonObject[]): FoldedAnswer | undefined {
  const fold = startFold()
  for (const event of events) fold.push(event)
  return fold.finish()
}

const delta = (members: JsonObject, over: JsonObject = {}): JsonObject => ({
  id: 'c1', choices: [{ index: 0, delta: members, ...over }],
})
const end = (finish_reason: string): JsonObject => delta({}, { finish_reason })
const call = (members: JsonObject, fn: JsonObject = {}): JsonObject =>
  delta({ tool_calls: [{ ...members, function: fn }] })

test('reads a whole answer of a server that does not stream', () => {
  const fold = startFold()
  const message = {
    role: 'assistant', content: 'I look.', reasoning: 'Hm.',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'glob', arguments: '{}' } }],
  }
  const usage = { prompt_tokens: 3, completion_tokens: 2, cost: 0.25, prompt_tokens_details: { cache_write_tokens: 1 } }
  assert.equal(
    fold.push({
      id: 'c1', object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'tool_calls' }], usage,
    }),
    { content: 'I look.', reasoning_content: 'Hm.' },
  )
  assert.equal(fold.finish(), {
    id: 'c1',
    message: {
      role: 'assistant', content: [text('I look.')], reasoning_content: 'Hm.', thinking_blocks: [],
      tool_calls: [{ id: 'call_1', name: 'glob', arguments: '{}', origin: 'completion' }],
    },
    state: { openai_chat: { reasoning_name: 'reasoning' } },
    stop: 'tool_calls',
    usage: { promptTokens: 3, completionTokens: 2, cacheWriteTokens: 1, cost: 0.25 },
    response: {
      id: 'c1', object: 'chat.completion', usage,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'I look.', reasoning_content: 'Hm.', tool_calls: message.tool_calls },
          finish_reason: 'tool_calls',
        },
      ],
    },
  })
})

test('has no answer before the provider has ended it', () => {
  assert.is(read(), undefined)
  assert.is(read(delta({ content: 'a' })), undefined)
  assert.is(read({ choices: [] }, { usage: { prompt_tokens: 1 } }), undefined)
})

test('gives an answer and a call an id where the server gave none', () => {
  const answer = read({
    choices: [
      { delta: { tool_calls: [{ index: 0, function: { name: 'glob', arguments: '{}' } }] }, finish_reason: 'stop' },
    ],
  })
  assert.is(answer?.id, 'made-2')
  assert.equal(answer?.message.tool_calls?.map(({ id }) => id), ['made-1'])
  assert.is(answer?.stop, 'tool_calls')
})

const joined: readonly (readonly [name: string, events: readonly JsonObject[], calls: readonly string[]])[] = [
  ['calls without an index by their ids', [
    call({ id: 'a' }, { name: 'x', arguments: '1' }), call({ id: 'b' }, { name: 'y', arguments: '2' }),
    call({ id: 'a' }, { arguments: '3' }), call({}, { arguments: '4' }),
  ], ['a x 13', 'b y 24']],
  [
    'a name that is repeated once',
    [call({ index: 0, id: 'a' }, { name: 'x', arguments: '1' }),
      call({ index: 0, id: 'a' }, { name: 'x', arguments: '2' })],
    ['a x 12'],
  ],
  ['arguments that are an object', [call({ index: 0, id: 'a' }, { name: 'x', arguments: { b: 1 } })], ['a x {"b":1}']],
  ['a piece of a call that never began', [call({}, { arguments: '1' })], ['made-1  1']],
]

for (const [name, events, calls] of joined) {
  test(`reads ${name}`, () => {
    const answer = read(...events, end('tool_calls'))
    assert.equal(answer?.message.tool_calls?.map((one) => `${one.id} ${one.name} ${one.arguments}`), calls)
  })
}

test('reads text in parts, and leaves out parts of other types', () => {
  const answer = read(
    delta({ content: [{ type: 'thinking', thinking: [] }, { type: 'text', text: 'a' }, { type: 'text' }] }),
    end('stop'),
  )
  assert.equal(answer?.message.content, [text('a')])
})

test('keeps what a server wants back of its reasoning', () => {
  const answer = read(
    delta({ reasoning: 'a', reasoning_details: [{ type: 'x', data: '1' }] }),
    delta({ reasoning_details: [{ data: '2' }] }),
    end('stop'),
  )
  assert.equal(answer?.state, {
    openai_chat: { reasoning_name: 'reasoning', reasoning_details: [{ type: 'x', data: '1' }, { data: '2' }] },
  })
  assert.is(read(delta({ content: 'a' }), end('stop'))?.state, undefined)
})

test('reads the token ids of a server that was asked for them', () => {
  const answer = read(
    { ...delta({ role: 'assistant' }), prompt_token_ids: [1, 2] },
    delta({ content: 'a' }, { token_ids: [3] }), delta({ content: 'b' }, { token_ids: [4, 5, null] }), end('stop'),
  )
  assert.equal(answer?.tokenIds, { prompt: [1, 2], response: [3, 4, 5] })
})

test('takes a filter for a refusal, and a limit before it', () => {
  assert.is(read(delta({ content: 'a' }), end('content_filter'))?.stop, 'refusal')
  assert.is(read(delta({ refusal: 'No' }), end('length'))?.stop, 'length')
  const refused = read(delta({ refusal: 'No' }), end('stop'))
  assert.equal(refused?.response, {
    id: 'c1', object: 'chat.completion', usage: {},
    choices: [{ index: 0, message: { role: 'assistant', content: '', refusal: 'No' }, finish_reason: 'stop' }],
  })
})

test('throws what a stream says of a failure', () => {
  assert.throws(() => read({ error: { message: 'Overloaded' } }), /Overloaded/)
  assert.throws(() => read(delta({ content: 'a' }, { finish_reason: 'error' })), (error: unknown) => {
    return error instanceof ModelError
  })
  assert.ok(read({ ...delta({ content: 'a' }), error: null }, end('stop')))
})

test('knows no figure that the server did not give', () => {
  assert.equal(
    read(
      delta({ content: 'a' }), { choices: [], usage: { prompt_tokens: null, completion_tokens: -1 } }, end('stop'),
    )?.usage,
    {},
  )
})

test.run()
