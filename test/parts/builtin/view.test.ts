/** The messages that a model gets of a history (contract: tests.md, "Model input and tool-call repair"). */
import * as assert from 'uvu/assert'
import { View } from '../../../src/parts/builtin/view/view.ts'
import type { ModelMessage } from '../../../src/parts/builtin/llm/model.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import type { Event, EventDraft } from '../../../src/schema/generated/events.ts'
import { toObservation } from '../../../src/schema/generated/observations.ts'
import { toEvent } from '../../../src/schema/generated/events.ts'
import { act, observe, say, textOf } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/view')

const image = { type: 'image', image_urls: ['data:image/png;base64,AA=='] } as const

function event(id: string, draft: EventDraft): Event {
  return toEvent({ ...draft, id, timestamp: '2026-11-21T12:00:00.000000Z' })
}

function user(id: string, content: string, more: JsonObject = {}): Event {
  return event(id, { kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content, ...more } })
}

/** Makes an action with this call, and the model's text beside it. */
function action(callId: string, changes: Partial<ReturnType<typeof act>> = {}): Event {
  return event(`a-${callId}`, { ...act(callId), ...changes })
}

function result(callId: string): Event {
  return event(`o-${callId}`, observe(callId, `a-${callId}`))
}

function viewOf(
  events: readonly Event[],
  more: {
    readonly late?: Readonly<Record<string, string>>
    readonly responses?: Readonly<Record<string, JsonObject>>
  } = {},
): View {
  const view = new View()
  view.add({
    isFresh: true,
    events,
    responses: new Map(Object.entries(more.responses ?? {})),
    late: new Map(Object.entries(more.late ?? {})),
  })
  return view
}

function words(messages: readonly ModelMessage[]): string[] {
  return messages.map(({ message }) => {
    return `${message.role}: ${[textOf(message), ...(message.tool_calls ?? []).map(({ id }) => `<${id}>`)].join('')}`
  })
}

function told(events: readonly Event[], late: Readonly<Record<string, string>> = {}): string[] {
  return words(viewOf(events, { late }).messages({ withImages: true }))
}

test('an empty history gives no message, and nothing to answer', () => {
  assert.equal(told([]), [])
  assert.is(viewOf([]).isOpen, false)
  assert.is(viewOf([event('s', { kind: 'SystemPromptEvent', system_prompt: { text: 'p' }, tools: [] })]).isOpen, false)
})

test('the context of a conversation is a second block of the system message', () => {
  const [only] = viewOf([
    event('s', {
      kind: 'SystemPromptEvent', system_prompt: { text: 'prompt' }, tools: [], dynamic_context: { text: 'context' },
    }),
  ]).messages({ withImages: true })
  assert.is(only?.message.role, 'system')
  assert.equal(only?.message.content.map((part) => part.type === 'text' && part.text), ['prompt', 'context'])
})

test('plain messages of the user that follow each other become one, in their order; others stay', () => {
  assert.equal(told([user('1', 'a'), user('2', 'b'), user('3', 'c', { name: 'x' }), user('4', 'd')]), [
    'user: ab', 'user: c', 'user: d',
  ])
})

test('what was added to a message follows it, and one that says nothing still stands', () => {
  const extended = event('1', {
    kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: 'a' },
    extended_content: [{ text: 'b' }],
  })
  assert.equal(told([extended]), ['user: ab'])
  assert.equal(told([user('1', ' \n')]), ['user: [An empty message.]'])
})

test(
  'the calls of one answer are one message with the thoughts of the first, and their results follow in their order',
  () => {
    const thinking = { thought: [{ text: 'I look.' }], reasoning_content: 'why' } as const
    const view = viewOf([user('1', 'a'), action('x', thinking), action('y'), result('y'), user('2', 'b'), result('x')])
    const messages = view.messages({ withImages: true })
    assert.equal(words(messages), ['user: a', 'assistant: I look.<x><y>', 'tool: done', 'tool: done', 'user: b'])
    assert.is(messages[1]?.message.reasoning_content, 'why')
    assert.equal(messages.slice(2, 4).map(({ message }) => message.tool_call_id), ['x', 'y'])
  },
)

test('a call that could not be executed is shown with its error, one without an answer is not', () => {
  const error = event('e', { kind: 'AgentErrorEvent', tool_name: 'fly', tool_call_id: 'x', error: 'not found' })
  assert.equal(told([user('1', 'a'), action('x', { action: null }), error]), [
    'user: a', 'assistant: <x>', 'tool: not found',
  ])
  assert.equal(told([user('1', 'a'), action('x'), action('y'), result('x')]), [
    'user: a', 'assistant: <x>', 'tool: done',
  ])
  assert.equal(told([user('1', 'a'), action('x')]), ['user: a'])
})

test('a result that failed says so first, and a rejection gives its reason', () => {
  const failed = event('o', {
    kind: 'ObservationEvent', tool_name: 'read', tool_call_id: 'x', action_id: 'a-x',
    observation: { kind: 'MCPToolObservation', tool_name: 'read', content: [{ text: 'no' }], is_error: true },
  })
  const rejected = event('r', {
    kind: 'UserRejectObservation', tool_name: 'read', tool_call_id: 'y', action_id: 'a-y', rejection_reason: 'later',
  })
  assert.equal(told([action('x'), action('y'), failed, rejected]).slice(1), [
    'tool: [An error occurred during execution.]\nno', 'tool: The action was rejected: later',
  ])
})

test('what every provider takes: arguments that are JSON, a name of its letters, answers that say something', () => {
  const cases = [
    ['fly <a>', '{"a":', 'fly__a_', '{}'], ['', '', 'unknown', '{}'], ['read', '{"a":"x\ny"}', 'read', '{"a":"x\\ny"}'],
    ['read', '{ "a": 1 }', 'read', '{ "a": 1 }'],
  ] as const
  for (const [name, args, soundName, soundArgs] of cases) {
    const call = { id: 'x', name, arguments: args, origin: 'completion' } as const
    const [answer, tool] = viewOf([action('x', { tool_name: name, tool_call: call }), result('x')]).messages({
      withImages: true,
    })
    assert.equal(answer?.message.tool_calls, [{ ...call, name: soundName, arguments: soundArgs }])
    assert.is(tool?.message.name, name === 'read' ? name : 'read')
  }
  assert.equal(told([user('1', 'a'), event('m', say(' ')), user('2', 'b')]), ['user: ab'])
})

test('what the user said while the model was answering comes after the answer', () => {
  assert.equal(told([user('1', 'a'), user('2', 'b'), event('m', say('first'))], { 2: 'm' }), [
    'user: a', 'assistant: first', 'user: b',
  ])
  const view = viewOf(
    [user('1', 'a'), user('2', 'b'), action('x'), action('y'), result('x'), result('y'), user('3', 'c')],
    { late: { 2: 'a-x' } },
  )
  assert.equal(words(view.messages({ withImages: true })), [
    'user: a', 'assistant: <x><y>', 'tool: done', 'tool: done', 'user: bc',
  ])
  assert.is(view.lastUserMessage?.id, '3')
})

test('a message that came during an answer of another branch stands where it is', () => {
  assert.equal(told([user('1', 'a'), user('2', 'b'), event('m', say('c'))], { 2: 'other' }), [
    'user: ab', 'assistant: c',
  ])
})

test('a model has something to answer until its own words or the result of finish are the last', () => {
  const finish = action('f', { tool_name: 'finish', action: { kind: 'FinishAction', message: 'x' } })
  const finished = event('o', {
    kind: 'ObservationEvent', tool_name: 'finish', tool_call_id: 'f', action_id: 'a-f',
    observation: { kind: 'FinishObservation' },
  })
  const rejected = event('r', {
    kind: 'UserRejectObservation', tool_name: 'finish', tool_call_id: 'f', action_id: 'a-f',
  })
  const rows: [boolean, Event[], Record<string, string>?][] = [
    [true, [user('1', 'a')]],
    [false, [user('1', 'a'), event('m', say('b'))]],
    [true, [user('1', 'a'), event('m', say(''))]],
    [true, [user('1', 'a'), user('2', 'b'), event('m', say('c'))], { 2: 'm' }],
    [true, [user('1', 'a'), action('x'), result('x')]],
    [false, [user('1', 'a'), finish, finished]],
    [true, [user('1', 'a'), finish, user('2', 'b'), finished]],
    [true, [user('1', 'a'), finish, rejected]],
    [true, [user('1', 'a'), finish]],
  ]
  for (const [isOpen, events, late] of rows) {
    assert.is(viewOf(events, late === undefined ? {} : { late }).isOpen, isOpen, events.map(({ id }) => id).join())
  }
})

test('what the provider keeps of an answer goes back with all of its calls, or not at all', () => {
  const responses = { response: { signature: 's' } }
  const whole = viewOf([action('x'), action('y'), result('x'), result('y')], { responses })
  assert.equal(whole.messages({ withImages: true })[0]?.state, { signature: 's' })
  const part = viewOf([action('x'), action('y'), result('x')], { responses })
  assert.is(part.messages({ withImages: true })[0]?.state, undefined)
})

test('knows the ids of the responses and calls of its branch', () => {
  const view = viewOf([action('x'), event('m', {
    kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', content: 'a' }, llm_response_id: 'r',
  })])
  assert.equal(['x', 'response', 'r', 'y'].map((id) => view.hasId(id)), [true, true, true, false])
  view.add({ isFresh: true, events: [], responses: new Map(), late: new Map() })
  assert.is(view.hasId('x'), false)
})

test('half of a character, as a cut leaves it, becomes the sign for a broken one', () => {
  assert.equal(told([user('1', 'a\ud83d b')]), ['user: a\ufffd b'])
})

test('a result without its call, which a moved head leaves, ends nothing', () => {
  const finished = event('o', {
    kind: 'ObservationEvent', tool_name: 'finish', tool_call_id: 'other', action_id: 'a',
    observation: { kind: 'FinishObservation' },
  })
  const view = viewOf([user('1', 'a'), action('x'), result('x'), finished])
  assert.is(view.isOpen, true)
  assert.equal(words(view.messages({ withImages: true })), ['user: a', 'assistant: <x>', 'tool: done'])
})

test('the screenshot of a browser is an image for the model', () => {
  const observation = toObservation({
    kind: 'BrowserObservation', content: [{ text: 'state' }], screenshot_data: 'AA==',
  })
  const seen = event('o-1', {
    kind: 'ObservationEvent', source: 'environment', tool_name: 'read', tool_call_id: 'c', action_id: 'a-c',
    observation,
  })
  const [, told] = viewOf([action('c'), seen]).messages({ withImages: true })
  assert.equal(told?.message.content.map((part) => (part.type === 'text' ? part.text : part.image_urls[0])), [
    'state', 'data:image/png;base64,AA==',
  ])
})

test('the note of a terminal follows its output for the model, once', () => {
  const told = (texts: readonly string[]): readonly unknown[] => {
    const content = texts.map((text) => ({ text }))
    const metadata = { suffix: '[The end.]' }
    const observation = toObservation({ kind: 'TerminalObservation', command: 'ls', content, metadata })
    const seen = event('o-1', {
      kind: 'ObservationEvent', source: 'environment', tool_name: 'terminal', tool_call_id: 'c', action_id: 'a-c',
      observation,
    })
    const [, answer] = viewOf([action('c'), seen]).messages({ withImages: true })
    return answer?.message.content.map((part) => part.type === 'text' && part.text) ?? []
  }
  assert.equal(told(['out']), ['out', '[The end.]'])
  assert.equal(told([]), ['[The end.]'])
  // As older histories have it.
  assert.equal(told(['out', '[The end.]']), ['out', '[The end.]'])
})

test('for a model without eyes an image is a word', () => {
  const seen = event('1', {
    kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: [{ text: 'look ' }, image] },
  })
  assert.equal(words(viewOf([seen]).messages({ withImages: true })), ['user: look [image]'])
  assert.equal(words(viewOf([seen]).messages({ withImages: false })), [
    'user: look [An image that the model cannot see.]',
  ])
})

test.run()
