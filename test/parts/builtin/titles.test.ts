/** Titles that the agent's model makes of the first message, in the background. */
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { ended, eventsOf, story, textOf, until, userText } from '../../support/conversation.ts'
import { withBuiltIn, type BuiltIn } from '../../support/built-in.ts'
import { calls, fails, hangs, scriptModel, text, type ModelStep, type ScriptModel } from '../../support/script-model.ts'
import { titleSettings } from '../../../src/parts/builtin/title.ts'
import { ModelError, type ModelClient } from '../../../src/parts/builtin/llm/model.ts'
import { llmOf } from '../../support/llm.ts'
import { toMessage } from '../../../src/schema/generated/values.ts'

const test = suite('agents/builtin/titles')

interface Parts extends BuiltIn<ModelClient> {
  /** The model that does the work, and the model that is asked for titles: the latter gets no tools. */
  readonly work: ScriptModel
  readonly titles: ScriptModel
}

async function withTitles(step: ModelStep, body: (parts: Parts) => Promise<void>, changes = {}): Promise<void> {
  const work = scriptModel([])
  const titles = scriptModel([step])
  const model: ModelClient = {
    ...work, complete: (request) => (request.tools.length === 0 ? titles : work).complete(request),
  }
  await withBuiltIn({ model, changes: { autotitle: true, ...changes } }, (parts) => body({ ...parts, work, titles }))
}

/** No run and no asking is under way. */
async function titled({ conversation }: Parts): Promise<string | null> {
  await ended(conversation)
  await until(() => conversation.state.title !== null)
  return conversation.state.title
}

const isError = (word: string): boolean => word.startsWith('failure')

test('the model gives the title, counted under a usage id of its own, and the time of the change is told', async () => {
  await withTitles(text('"🔧 Fix the   build"\n'), async (parts) => {
    const { conversation, world, titles } = parts
    world.time.now += 60_000
    await conversation.send(userText('Fix the build, please. '.repeat(300)), true)
    assert.is(await titled(parts), '🔧 Fix the build')
    assert.ok(conversation.state.updated_at >= '2026-11-21T12:01:00.000000Z')
    await until(() => Object.keys(Object(conversation.state.stats['usage_to_metrics'])).includes('title'))
    const [system, asked] = titles.requests[0]?.messages.map(({ message }) => textOf(message)) ?? []
    assert.match(system ?? '', 'emoji')
    assert.ok((asked ?? '').length < 4100)
    await conversation.send(userText('And now the tests'), true)
    await ended(conversation)
    assert.is(titles.requests.length, 1)
    assert.is(conversation.state.title, '🔧 Fix the build')
    assert.not.ok((await story(conversation)).some(isError))
  })
})

test('a run does not wait for the title, and closing ends the asking with the message, shortened', async () => {
  await withTitles(hangs, async (parts) => {
    const { conversation, titles, work, reopen } = parts
    await conversation.send(userText('word '.repeat(20)), true)
    await ended(conversation)
    assert.is(conversation.state.execution_status, 'finished')
    assert.equal([titles.requests.length, work.requests.length, conversation.state.title], [1, 1, null])
    const again = await reopen()
    assert.is(again.state.title, `${'word '.repeat(20).slice(0, 47)}...`)
    assert.not.ok((await story(again)).some(isError))
  })
})

test(
  'when the model fails the title is the message, shortened, and the history says why; the status stays',
  async () => {
    const failing: ModelStep = () => {
      throw new ModelError('LLMAuthenticationError', 'The key SECRET is wrong')
    }
    await withTitles(failing, async (parts) => {
      await parts.conversation.send(userText('Fix it'), false)
      assert.is(await titled(parts), 'Fix it')
      await until(() => parts.conversation.events.eventCount >= 4)
      const failure = (await eventsOf(parts.conversation.events)).find(({ kind }) => kind === 'ConversationErrorEvent')
      assert.equal(failure?.kind === 'ConversationErrorEvent' && [failure.source, failure.code, failure.detail], [
        'environment', 'LLMAuthenticationError', 'The key <secret-hidden> is wrong',
      ])
      assert.is(parts.conversation.state.execution_status, 'idle')
    })
  },
)

test('an answer without words gives the message, shortened, and no error', async () => {
  for (const step of [text(' \n'), calls([['terminal', {}]])]) {
    await withTitles(step, async (parts) => {
      await parts.conversation.send(userText('Fix it'), true)
      assert.is(await titled(parts), 'Fix it')
      assert.not.ok((await story(parts.conversation)).some(isError))
    })
  }
})

test('a title that the user sets while the model is asked stays', async () => {
  await withTitles(hangs, async (parts) => {
    const { conversation, reopen } = parts
    await conversation.send(userText('Fix it'), true)
    await conversation.patch({ tags: { a: 'b' } })
    await conversation.patch({ title: 'Mine' })
    const again = await reopen()
    assert.is(again.state.title, 'Mine')
    assert.not.ok((await story(again)).some(isError))
  })
})

test('a title that comes at the same moment as that of the user does not take its place', async () => {
  await withTitles(text('Theirs'), async (parts) => {
    const sent = parts.conversation.send(userText('Fix it'), true)
    await parts.conversation.patch({ title: 'Mine' })
    await sent
    await ended(parts.conversation)
    const again = await parts.reopen()
    assert.is(again.state.title, 'Mine')
  })
})

const none: readonly (readonly [name: string, changes: object, message: ReturnType<typeof toMessage>])[] = [
  ['autotitle is off', { autotitle: false }, userText('Fix it')],
  ['the message has no words', {}, userText(' \n')],
  ['the message is an image', {},
    toMessage({ role: 'user', content: [{ type: 'image', image_urls: ['data:image/png;base64,AAAA'] }] })],
]
for (const [name, changes, message] of none) {
  test(`no model is asked for a title when ${name}`, async () => {
    await withTitles(text('A title'), async ({ conversation, titles, reopen }) => {
      await conversation.send(message, true)
      await ended(conversation)
      const again = await reopen()
      assert.equal([again.state.title, titles.requests.length], [null, 0])
    }, changes)
  })
}

test('no model is asked for a conversation that has a title', async () => {
  await withTitles(text('A title'), async ({ conversation, titles }) => {
    await conversation.patch({ title: 'Mine' })
    await conversation.send(userText('Fix it'), true)
    await ended(conversation)
    assert.equal([conversation.state.title, titles.requests.length], ['Mine', 0])
  })
})

test('once the budget is spent the title costs nothing', async () => {
  const spends = text('done', { usage: { cost: 2 } })
  await withTitles(text('A title'), async ({ conversation, titles, work }) => {
    work.steps.push(spends)
    await conversation.patch({ budget: 1 })
    await conversation.send(toMessage({ role: 'user', content: [] }), true)
    await ended(conversation)
    assert.equal([conversation.state.title, titles.requests.length], [null, 0])
  })
})

test('the model is asked to think little, and its answer is not logged', () => {
  const low = titleSettings(llmOf({ log_completions: true }))
  assert.equal([low.reasoning_effort, low.log_completions], ['low', false])
  assert.equal(
    [null, 'none', 'high'].map((effort) => titleSettings(llmOf({ reasoning_effort: effort })).reasoning_effort),
    [null, 'none', 'low'],
  )
})

test('an unexpected failure of the asking is no matter of the history', async () => {
  const broken: ModelStep = () => {
    throw new TypeError('a bug')
  }
  await withTitles(broken, async (parts) => {
    await parts.conversation.send(userText('Fix it'), true)
    assert.is(await titled(parts), 'Fix it')
    assert.not.ok((await story(parts.conversation)).some(isError))
    assert.ok(parts.world.reports.some((line) => line.includes('A title could not be made')))
  })
})

test('a model that fails for the title may well do the work', async () => {
  await withTitles(fails('LLMRateLimitError'), async (parts) => {
    await parts.conversation.send(userText('Fix it'), true)
    assert.is(await titled(parts), 'Fix it')
    assert.is(parts.conversation.state.execution_status, 'finished')
  })
})

test.run()
