/** Another model in mid-conversation: from the next step on, without the data that only the previous model can read. */
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { checkpoint, ended, eventsOf, story, textOf, until, userText } from '../../support/conversation.ts'
import { withBuiltIn } from '../../support/built-in.ts'
import { calls, scriptModel, text, type ModelStep, type ScriptModel } from '../../support/script-model.ts'
import type { ModelRequest } from '../../../src/parts/builtin/llm/model.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { toMessage } from '../../../src/schema/generated/values.ts'

const test = suite('agents/builtin/switching')

const toOther = (agent: JsonObject): JsonObject => ({ ...agent, llm: { model: 'test/other', usage_id: 'second' } })
const noMore = { model: 'test/other' }

/** Calls the terminal, signed in every way that there is. */
const signed: ModelStep = async (request, number) => {
  const answer = await calls([['terminal', { command: 'a' }]])(request, number)
  const message = toMessage({
    ...answer.message,
    content: [{ text: 'I look.' }],
    reasoning_content: 'Hm',
    thinking_blocks: [
      { type: 'thinking', thinking: 'Hm', signature: 'signature' }, { type: 'redacted_thinking', data: 'sealed' },
    ],
    responses_reasoning_item: { id: 'rs_1', summary: [], encrypted_content: 'sealed' },
  })
  return { ...answer, message, state: { openai_responses: { items: ['sealed'] } } }
}

/** Returns the private part of each earlier answer in a request. */
function privateParts({ messages }: ModelRequest): unknown[] {
  return messages.filter(({ message }) => message.role === 'assistant').map(({ message, state }) => {
    const { thinking_blocks: blocks, responses_reasoning_item: item } = message
    return [
      textOf(message),
      blocks.map((block) => (block.type === 'thinking' ? block.signature : block.data)),
      item?.id,
      state !== undefined,
    ]
  })
}

const all = ['I look.', ['signature', 'sealed'], 'rs_1', true]
const none = ['I look.', [undefined], undefined, false]

function requestsOf({ requests }: ScriptModel): unknown[][] {
  return requests.map(privateParts)
}

test('the next step is of the other model, and what the one before has signed is not told to it', async () => {
  const model = scriptModel([signed, text('first')])
  const other = scriptModel([(request, number) => signed(request, number + 10), text('second')], noMore)
  await withBuiltIn({ model, models: { 'test/other': other } }, async ({ conversation, reopen }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.equal(requestsOf(model), [[], [all]])
    await conversation.switches.llm(toOther)
    assert.is((await story(conversation)).at(-1), 'update agent')
    await conversation.send(userText('go on'), true)
    await ended(conversation)
    const firstSaid = ['first', [], undefined, false]
    assert.equal(requestsOf(other), [[none, firstSaid], [none, firstSaid, all]])
    assert.equal(Object.keys(Object(conversation.state.stats['usage_to_metrics'])), ['agent', 'second'])
    const again = await reopen()
    await again.send(userText('and again'), true)
    await ended(again)
    assert.equal(requestsOf(other).at(-1), [none, firstSaid, all, ['second', [], undefined, false]])
    assert.is(model.requests.length, 2)
  })
})

test('an answer that comes after the switch keeps its words and loses what the next model would refuse', async () => {
  const gate = checkpoint()
  const model = scriptModel([async (request, number) => {
    await gate.here()
    return signed(request, number)
  }])
  const other = scriptModel([], noMore)
  await withBuiltIn({ model, models: { 'test/other': other } }, async ({ conversation, done }) => {
    await conversation.send(userText('hi'), true)
    await gate.reached
    await conversation.switches.llm(toOther)
    gate.pass()
    await ended(conversation)
    assert.equal(done, ['a'])
    assert.equal(requestsOf(other), [[none]])
    assert.is(conversation.state.execution_status, 'finished')
    const action = (await eventsOf(conversation.events)).find((event) => event.kind === 'ActionEvent')
    assert.equal(action?.kind === 'ActionEvent' && action.reasoning_content, 'Hm')
  })
})

test('actions that wait for the user over a switch are executed, and the other model is told of them', async () => {
  const other = scriptModel([], noMore)
  const changes = { confirmation_policy: { kind: 'AlwaysConfirm' } }
  await withBuiltIn({ model: scriptModel([signed]), models: { 'test/other': other }, changes }, async (
    { conversation, done },
  ) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    await conversation.switches.llm(toOther)
    await conversation.respond({ accept: true, reason: '' })
    await ended(conversation)
    assert.equal(done, ['a'])
    assert.equal(requestsOf(other), [[none]])
  })
})

test('what was said before a switch stays unsigned when the head is moved back to it', async () => {
  const other = scriptModel([text('second')], noMore)
  await withBuiltIn({ model: scriptModel([signed, text('first')]), models: { 'test/other': other } }, async (
    { conversation, reopen },
  ) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const before = conversation.state.leaf_event_id
    await conversation.switches.llm(toOther)
    await conversation.send(userText('go on'), true)
    await ended(conversation)
    await conversation.navigate(before)
    await conversation.send(userText('go elsewhere'), true)
    await ended(conversation)
    const again = await reopen()
    await again.send(userText('and again'), true)
    await ended(again)
    assert.equal(requestsOf(other).map(([first]) => first), [none, none, none])
    assert.is(other.requests.at(-1)?.messages.some(({ message }) => textOf(message) === 'second'), false)
  })
})

test('the same settings again are no switch', async () => {
  await withBuiltIn({ model: scriptModel([]) }, async ({ conversation }) => {
    await conversation.switches.llm((agent) => agent)
    assert.equal(await story(conversation), [])
  })
})

test('a question beside the work is asked of the model of the moment', async () => {
  const other = scriptModel([text('Two.')], noMore)
  await withBuiltIn({ model: scriptModel([]), models: { 'test/other': other } }, async ({ conversation }) => {
    await conversation.switches.llm(toOther)
    assert.is(await conversation.asides.ask('One?', new AbortController().signal), 'Two.')
    await until(() => Object.keys(Object(conversation.state.stats['usage_to_metrics'])).includes('second'))
  })
})

test('images of before are a note to a model that takes none', async () => {
  const picture = toMessage({
    role: 'user',
    content: [{ type: 'text', text: 'Look' }, { type: 'image', image_urls: ['data:image/png;base64,AAAA'] }],
  })
  const model = scriptModel([text('I see.')], { takesImages: true })
  const other = scriptModel([], { ...noMore, takesImages: false })
  await withBuiltIn({ model, models: { 'test/other': other } }, async ({ conversation }) => {
    await conversation.send(picture, true)
    await ended(conversation)
    assert.is(model.requests[0]?.messages.at(-1)?.message.content.at(-1)?.type, 'image')
    await conversation.switches.llm(toOther)
    await conversation.send(userText('What was it?'), true)
    await ended(conversation)
    assert.equal(
      other.requests[0]?.messages.slice(1).map(({ message }) => {
        return message.content.map((part) => (part.type === 'text' ? part.text : part.type))
      }),
      [
        ['Look', '[An image that the model cannot see.]'], ['I see.'], ['What was it?'],
      ],
    )
  })
})

test.run()
