/** A conversation as text for an agent that has lost its memory of it. */
import * as assert from 'uvu/assert'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import { readTranscript } from '../../../src/conversation/log/transcript.ts'
import { toMessage } from '../../../src/schema/generated/values.ts'
import { suite } from '../../support/suite.ts'
import {
  act, answers, ended, finished, observe, say, userText, withConversation, type Script, type World,
} from '../../support/conversation.ts'

const test = suite('conversation/log/transcript')
const mask = (text: string): string => text.replaceAll('SECRET', '<hidden>')

async function runs(conversation: Conversation, world: World, message: string, script: Script): Promise<void> {
  world.scripts.push(script)
  await conversation.send(userText(message), true)
  await ended(conversation)
}

function read(conversation: Conversation, limitBytes = 10_000): Promise<string> {
  return readTranscript(conversation.events, { limitBytes, mask, without: new Set(conversation.state.unserved) })
}

const works: Script = (turn): TurnEnd => {
  for (const [call, summary] of [['one', 'Read  the\nfile'], ['two', 'Write it'], ['three', 'Send it']] as const) {
    const { id } = turn.record({ ...act(call), summary })
    if (call === 'one') turn.record(observe(call, id))
    if (call === 'two') {
      turn.record({
        kind: 'UserRejectObservation', action_id: id, tool_name: 'read', tool_call_id: call, rejection_reason: 'No',
      })
    }
  }
  turn.record(say('done, SECRET'))
  turn.record({
    kind: 'MessageEvent',
    source: 'environment',
    llm_message: { role: 'user', content: [{ type: 'text', text: 'a note' }] },
  })
  return finished
}

test('tells messages and tool calls in order, with what became of each, masked', () => withConversation(async (
  conversation, world,
) => {
  await runs(conversation, world, 'Do it with SECRET', works)
  assert.is(await read(conversation), [
    'User: Do it with <hidden>',
    'Tool: Read the file (done)',
    'Tool: Write it (denied)',
    'Tool: Send it (failed)',
    'Agent: done, <hidden>',
  ].join('\n'))
}))

test('is empty before anything was said, and leaves out what no turn has served', () => withConversation(async (
  conversation, world,
) => {
  assert.is(await read(conversation), '')
  await conversation.send(userText('first'), false)
  assert.is(await read(conversation), '')
  await runs(conversation, world, 'second', answers('yes'))
  await conversation.send(userText('third'), false)
  assert.is(await read(conversation), 'User: first\nUser: second\nAgent: yes')
}))

test(
  'keeps to its limit: the newest is there, the oldest left out, a long message cut in its middle',
  () => withConversation(async (conversation, world) => {
    for (let round = 0; round < 10; round++) {
      await runs(conversation, world, `question ${round}`, answers(`answer ${round} ${'ü'.repeat(20)}`))
    }
    const text = await read(conversation, 400)
    assert.ok(Buffer.byteLength(text) <= 400, `${Buffer.byteLength(text)} bytes`)
    assert.match(text, /^\[Earlier parts of the conversation are left out\]\n/)
    assert.match(text, /answer 9/)
    assert.not.match(text, /question 0/)
    await runs(conversation, world, `begin ${'x'.repeat(5000)} end`, answers('ok'))
    const cut = await read(conversation, 400)
    assert.match(cut, /\nUser: begin x+ \[\.\.\.\] x+ end\nAgent: ok$/)
  }),
)

test(
  'names images, leaves out messages without words, and knows tools by name where nothing else is told',
  () => withConversation(async (conversation, world) => {
    world.scripts.push((turn) => {
      turn.record({ ...act('one'), tool_name: 'search' })
      turn.record({ kind: 'AgentErrorEvent', tool_name: 'search', tool_call_id: 'one', error: 'gone' })
      const { id } = turn.record({ ...act('two'), tool_name: 'look' })
      const observation = { kind: 'MCPToolObservation', tool_name: 'look', content: [], is_error: true } as const
      turn.record({ kind: 'ObservationEvent', tool_name: 'look', tool_call_id: 'two', action_id: id, observation })
      turn.record(say('  '))
      return finished
    })
    await conversation.send(
      toMessage({ role: 'user', content: [{ type: 'image', image_urls: ['data:image/png;base64,AAAA'] }] }), true,
    )
    await ended(conversation)
    assert.is(await read(conversation), 'User: [image]\nTool: search (failed)\nTool: look (failed)')
  }),
)

test('is what an agent is given by its host', () => withConversation(async (conversation, world) => {
  await runs(conversation, world, 'hello', answers('good day'))
  await conversation.send(userText('more'), false)
  const host = world.agents[0]?.host
  assert.is(await host?.transcript({ limitBytes: 1000, upTo: 'served' }), 'User: hello\nAgent: good day')
  assert.is(await host?.transcript({ limitBytes: 1000, upTo: 'now' }), 'User: hello\nAgent: good day\nUser: more')
}))

test.run()
