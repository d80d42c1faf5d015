/** Which events a run of the built-in agent gives, in order (contract: events.md, section 5). */
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { ended, eventsOf, story, userText } from '../../support/conversation.ts'
import { withBuiltIn } from '../../support/built-in.ts'
import { answer, calls, fails, scriptModel, text, type ModelStep } from '../../support/script-model.ts'

const test = suite('agents/builtin/sequences')

const nothing: ModelStep = text('')
const ls = calls([['terminal', { command: 'ls' }]])
const finish = calls([['finish', { message: 'all done' }]])
const start = ['SystemPromptEvent', 'user: hi', 'status running']

const rows: readonly (readonly [name: string, steps: readonly ModelStep[], words: readonly string[]])[] = [
  ['a text ends the run', [text('hello')], ['agent: hello', 'update stats', 'status finished']],
  ['a tool runs and the run goes on', [ls, text('ok')], [
    'action call-1-1', 'observation call-1-1', 'agent: ok', 'update stats', 'status finished',
  ]],
  ['the finish tool ends the run', [finish],
    ['action call-1-1', 'observation call-1-1', 'update stats', 'status finished']],
  ['all actions of one answer come before their results', [
    calls([['terminal', { command: 'a' }], ['think', { thought: 'b' }]]),
  ], [
    'action call-1-1', 'action call-1-2', 'observation call-1-1', 'observation call-1-2',
    'agent: done', 'update stats', 'status finished',
  ]],
  ['calls after finish are dropped', [calls([['finish', { message: 'x' }], ['terminal', { command: 'rm' }]])], [
    'action call-1-1', 'observation call-1-1', 'update stats', 'status finished',
  ]],
  ['an unknown tool is an error of the agent and the run goes on', [calls([['fly', {}]])], [
    'action call-1-1', 'error call-1-1', 'agent: done', 'update stats', 'status finished',
  ]],
  ['an error of a bad call follows its own action, before the ' +
    'next', [calls([['fly', {}], ['terminal', { command: 'a' }], ['think', '{{']])], [
      'action call-1-1', 'error call-1-1', 'action call-1-2', 'action call-1-3', 'error call-1-3',
      'observation call-1-2', 'agent: done', 'update stats', 'status finished',
    ]],
  ['an answer without text is corrected', [nothing], [
    'agent: ',
    'environment: Your last answer had neither text nor a tool call. Call a tool to go on, or finish with a message ' +
      'to the user.',
    'agent: done', 'update stats', 'status finished',
  ]],
  ['a refusal of the provider is corrected once', [fails('LLMContentPolicyViolationError')], [
    'environment: The model provider refused the last request because of its content policy. Go on without what it ' +
      'refused.',
    'agent: done', 'update stats', 'status finished',
  ]],
  ['a refusal of the correction is the end', [fails('LLMContentPolicyViolationError'),
    fails('LLMContentPolicyViolationError')], [
    'environment: The model provider refused the last request because of its content policy. Go on without what it ' +
      'refused.',
    'failure LLMContentPolicyViolationError', 'status error',
  ]],
  ['a wrong key is an error of the conversation', [fails('LLMAuthenticationError')],
    ['failure LLMAuthenticationError', 'status error']],
  ['a context that is too long is one too', [fails('LLMContextWindowExceedError')],
    ['failure LLMContextWindowExceedError', 'status error']],
]
for (const [name, steps, words] of rows) {
  test(name, async () => {
    await withBuiltIn({ model: scriptModel(steps) }, async ({ conversation }) => {
      await conversation.send(userText('hi'), true)
      await ended(conversation)
      assert.equal(await story(conversation), [...start, ...words])
    })
  })
}

test('an answer of thoughts alone is corrected, and its thoughts are kept', async () => {
  const thinking: ModelStep = (_request, number) => ({
    ...answer(number, { role: 'assistant', content: '', reasoning_content: 'I wonder.' }),
  })
  await withBuiltIn({ model: scriptModel([thinking]) }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const texts = (await eventsOf(conversation.events)).flatMap((event) => {
      return event.kind === 'MessageEvent' ? [[event.source, event.llm_message.reasoning_content]] : []
    })
    assert.equal(texts, [['user', undefined], ['agent', 'I wonder.'], ['environment', undefined], ['agent', undefined]])
  })
})

test('the thoughts of an answer are in its first action alone', async () => {
  const two = calls([['terminal', { command: 'a' }], ['terminal', { command: 'b' }]], 'I look.')
  await withBuiltIn({ model: scriptModel([two]) }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const thoughts = (await eventsOf(conversation.events)).flatMap((event) => {
      return event.kind === 'ActionEvent' ? [event.thought.map(({ text }) => text)] : []
    })
    assert.equal(thoughts, [['I look.'], []])
  })
})

test('the iteration limit is an error that names it, and a finish on the last step stays a finish', async () => {
  await withBuiltIn({ model: scriptModel([ls, ls, ls, finish]), changes: { max_iterations: 2 } }, async (
    { conversation },
  ) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const error = (await eventsOf(conversation.events)).find((event) => event.kind === 'ConversationErrorEvent')
    assert.is(error?.kind === 'ConversationErrorEvent' && error.code, 'MaxIterationsReached')
    assert.match(error?.kind === 'ConversationErrorEvent' ? (error.detail ?? '') : '', /maximum iterations limit \(2\)/)
    assert.is(conversation.state.execution_status, 'error')
    await conversation.run()
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'finished')
  })
})

test('the same action with the same result four times is stuck', async () => {
  await withBuiltIn({ model: scriptModel([ls, ls, ls, ls, ls]) }, async ({ conversation, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'stuck')
    assert.is(model.requests.length, 4)
  })
})

test('an action that fails earns one nudge, then it is stuck', async () => {
  const bad = calls([['fly', {}]])
  await withBuiltIn({ model: scriptModel([bad, bad, bad, bad, bad]) }, async ({ conversation, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const nudges = (await story(conversation)).filter((word) => word.startsWith('environment: '))
    assert.is(nudges.length, 1)
    assert.is(model.requests.length, 4)
    assert.match(JSON.stringify(model.requests[3]?.messages.at(-1)), /The last three actions have failed/)
    assert.is(conversation.state.execution_status, 'stuck')
  })
})

test('images for a model without eyes are answered without a call', async () => {
  await withBuiltIn({ model: scriptModel([], { takesImages: false }) }, async ({ conversation, model }) => {
    const image = { type: 'image', cache_prompt: false, image_urls: ['data:image/png;base64,AA=='] } as const
    await conversation.send({ ...userText('look'), content: [image] }, true)
    await ended(conversation)
    assert.is(model.requests.length, 0)
    assert.match((await story(conversation)).at(-2) ?? '', /agent: The model test\/script does not support images/)
    assert.is(conversation.state.execution_status, 'finished')
    await conversation.send(userText('in words then'), true)
    await ended(conversation)
    assert.not.match(JSON.stringify(model.requests[0]?.messages), /base64/)
  })
})

test('a tool that throws is an error of the agent', async () => {
  const terminal = async (): Promise<string> => {
    throw new Error('no SECRET here')
  }
  await withBuiltIn({ model: scriptModel([ls]), terminal }, async ({ conversation, model }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const told = model.requests[1]?.messages.at(-1)?.message
    assert.equal(
      told?.content[0]?.type === 'text' && told.content[0].text,
      "Error executing tool 'terminal': no <secret-hidden> here",
    )
  })
})

test.run()
