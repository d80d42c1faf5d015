import * as assert from 'uvu/assert'
import { createScriptedModel } from '../../../../src/parts/builtin/llm/scripted.ts'
import { toMessage } from '../../../../src/schema/generated/values.ts'
import { ended, eventsOf, story, userText } from '../../../support/conversation.ts'
import { withBuiltIn } from '../../../support/built-in.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/llm/scripted')

test('a greeting is answered, in pieces, by saying what it is', async () => {
  const pieces: string[] = []
  const hello = {
    role: 'user', content: [{ type: 'text', text: 'Hello!', cache_prompt: false }], thinking_blocks: [],
  } as const
  const answer = await createScriptedModel().complete({
    messages: [{ message: hello }],
    tools: [{ name: 'think', description: '', parameters: {} }],
    signal: new AbortController().signal,
    onDelta: ({ content = '' }) => void pieces.push(content),
  })
  const [part] = answer.message.content
  assert.match(part?.type === 'text' ? part.text : '', /demonstration model .* not a language model/)
  assert.ok(pieces.length > 5)
  assert.is(pieces.join(''), part?.type === 'text' ? part.text : '')
})

test('a task is worked on with the tools that are there, and ends with a summary', async () => {
  await withBuiltIn({ model: createScriptedModel() }, async ({ conversation, done }) => {
    await conversation.send(userText('Show me'), true)
    await ended(conversation)
    assert.is(done.at(-1), 'ls')
    const names = (await eventsOf(conversation.events)).flatMap((event) => {
      return (event.kind === 'ActionEvent' ? [event.tool_name] : [])
    })
    assert.equal(names, ['think', 'terminal', 'finish'])
    assert.is((await story(conversation)).at(-1), 'status finished')
    await conversation.send(userText('Again'), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'finished')
    assert.is(done.filter((command) => command === 'ls').length, 2)
  })
})

test('a second piece of work writes a second note', async () => {
  const ask = (text: string) => ({ message: toMessage({ role: 'user', content: text }) })
  const call = { id: 'a', name: 'file_editor', arguments: '{"command":"create"}', origin: 'completion' } as const
  const done = { message: toMessage({ role: 'assistant', tool_calls: [call] }) }
  const tools = [{ name: 'file_editor', description: '', parameters: {} }]
  const { signal } = new AbortController()
  const answer = await createScriptedModel().complete({ messages: [ask('Show me'), done, ask('Again')], tools, signal })
  assert.match(answer.message.tool_calls?.[0]?.arguments ?? '', 'demo-note-2.md')
})

test('an aborted call gives no answer', async () => {
  const signal = AbortSignal.abort(new Error('stop'))
  const thrown = await createScriptedModel().complete({ messages: [], tools: [], signal }).catch((error: unknown) => {
    return error
  })
  assert.is(thrown, signal.reason)
})

test.run()
