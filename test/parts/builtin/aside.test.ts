/** Questions beside the work of the built-in agent: answered in words, and without a trace. */
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { ended, failureOf, story, textOf, until, userText } from '../../support/conversation.ts'
import { withBuiltIn } from '../../support/built-in.ts'
import { calls, fails, hangs, scriptModel, text } from '../../support/script-model.ts'

const test = suite('agents/builtin/aside')

const never = new AbortController().signal

test('the model is told the history and the question, and the answer is masked', async () => {
  const model = scriptModel([text('done'), text(' The SECRET is 42. ')])
  await withBuiltIn({ model }, async ({ conversation }) => {
    await conversation.send(userText('hi'), true)
    await ended(conversation)
    const before = await story(conversation)
    assert.is(await conversation.asides.ask('What is it?', never), 'The <secret-hidden> is 42.')
    const last = model.requests[1]?.messages.slice(1).map(({ message }) => `${message.role}: ${textOf(message)}`)
    assert.equal(last, [
      'user: hi',
      'assistant: done',
      'user: Answer this question from what you know, in words and without calling a tool:\n\nWhat is it?',
    ])
    assert.is(model.requests[1]?.onDelta, undefined)
    assert.equal(
      (await story(conversation)).filter((word) => !word.startsWith('update')),
      before.filter((word) => !word.startsWith('update')),
    )
  })
})

test('an answer without words, and a model that fails, are failures of the agent', async () => {
  const ls = calls([['terminal', { command: 'ls' }]])
  await withBuiltIn(
    { model: scriptModel([ls, text(' '), fails('LLMAuthenticationError')]) },
    async ({ conversation, done }) => {
      for (let count = 0; count < 3; count++) {
        assert.is(await failureOf(conversation.asides.ask('What?', never)), 'agent_failed')
      }
      assert.equal(done, [])
    },
  )
})

test('a question that is given up ends the call of the model', async () => {
  const controller = new AbortController()
  await withBuiltIn({ model: scriptModel([hangs]) }, async ({ conversation, model }) => {
    const asking = conversation.asides.ask('What?', controller.signal)
    await until(() => model.requests.length === 1)
    controller.abort(new Error('given up'))
    assert.is(await failureOf(asking), 'given up')
    assert.is(await conversation.asides.ask('And now?', never), 'done')
  })
})

test.run()
