import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { created, until, userText } from '../../support/conversation.ts'
import { type PrivateRecord } from '../../../src/conversation/log/records.ts'
import { initialState } from '../../../src/conversation/log/state.ts'
import { titleOf, Titles, type TitlesOptions } from '../../../src/conversation/extra/titles.ts'
import type { EventDraft } from '../../../src/schema/generated/events.ts'

const test = suite('conversation/extra/titles')

test('takes a short text as it is, on one line', () => {
  assert.is(titleOf('  Fix\n the   build '), 'Fix the build')
})

test('cuts a long text to 47 characters and three dots', () => {
  const title = titleOf('x'.repeat(51))
  assert.is(title, `${'x'.repeat(47)}...`)
  assert.is(titleOf('x'.repeat(50)), 'x'.repeat(50))
})

test('never cuts a character in two', () => {
  const title = titleOf('😀'.repeat(60)) ?? ''
  assert.not.match(title, /\p{Surrogate}/u)
  assert.is([...title].length, 50)
})

test('looks at the beginning of a long text alone', () => {
  assert.is(titleOf(`Fix${' '.repeat(20_000)}the build`), 'Fix...')
  assert.is(titleOf(`Fix${' '.repeat(20_000)}`), 'Fix')
})

test('gives none for a text without words', () => {
  assert.is(titleOf(' \n\t'), undefined)
})

interface Desk {
  readonly titles: Titles
  readonly kept: PrivateRecord[]
  readonly recorded: EventDraft[]
  readonly reports: string[]
}

function desk(
  { ask, limitMs = 1000 }: { readonly ask: TitlesOptions['asides']['makeTitle']; readonly limitMs?: number },
  isFull = false,
): Desk {
  const [kept, recorded, reports]: [PrivateRecord[], EventDraft[], string[]] = [[], [], []]
  const report = (line: string): void => void reports.push(line)
  const journal: TitlesOptions['journal'] = {
    state: initialState(created({ autotitle: true })),
    keep: (record) => {
      if (isFull) throw new Error('The disk is full')
      kept.push(record)
    },
    record: (draft) => {
      recorded.push(draft)
      return { id: 'id', durable: async () => undefined }
    },
    durable: async () => undefined,
  }
  const diagnostics = { debug: report, info: report, warn: report, error: report }
  return {
    titles: new Titles({ journal, clock: () => 0, diagnostics, asides: { makeTitle: ask }, limitMs }),
    kept,
    recorded,
    reports,
  }
}

const shown = { isShownToModels: true }
const at = '1970-01-01T00:00:00.000000Z'

test('a model that takes too long is told to stop, and counts as one that failed', async () => {
  const told: AbortSignal[] = []
  const { titles, kept, recorded } = desk({ limitMs: 1, ask: (_text, signal) => {
    told.push(signal)
    return new Promise(() => undefined)
  } })
  titles.begin(userText('Fix it'), shown)
  await until(() => recorded.length > 0)
  assert.equal(kept, [['patched', { at, title: 'Fix it' }]])
  assert.equal(recorded, [{
    kind: 'ConversationErrorEvent', source: 'environment', code: 'LLMTimeoutError',
    detail: 'The model made no title within 0.001 seconds',
  }])
  assert.ok(told[0]?.aborted)
  await titles.close()
})

test('a title that the log does not take is reported, and nothing is thrown', async () => {
  const { titles, reports } = desk(
    { ask: async () => ({ text: 'A title', usage: { usageId: 'title', model: 'm' } }) }, true,
  )
  titles.begin(userText('Fix it'), shown)
  await until(() => reports.length > 0)
  assert.equal(reports, ['A title could not be recorded'])
  await titles.close()
})

test('only the first message begins a title, and quotes around it are taken off', async () => {
  for (const [given, title] of [
    ['"A title"', 'A title'], ['**A title**', 'A title'], ['`a` or `b`', '`a` or `b`'], ["Don't", "Don't"],
  ] as const) {
    let asked = 0
    const { titles, kept } = desk({ ask: async () => {
      asked++
      return { text: given, usage: { usageId: 'title', model: 'm' } }
    } })
    titles.begin(userText('Fix it'), shown)
    titles.begin(userText('Fix that'), shown)
    await until(() => kept.length > 0)
    await titles.close()
    titles.begin(userText('Fix this'), shown)
    assert.equal([asked, kept], [1, [['patched', { at, title }]]])
  }
})

test('a message that no model may see is shortened, and no model is asked', () => {
  const { titles, kept } = desk({ ask: () => {
    throw new Error('asked')
  } })
  titles.begin(userText('Fix it'), { isShownToModels: false })
  assert.equal(kept, [['patched', { at, title: 'Fix it' }]])
})

test.run()
