/** Long values that are recorded are masked once, and others have turns of the event loop meanwhile. */
import * as assert from 'uvu/assert'
import { maskAction, maskMessage, maskObservation } from '../../../src/parts/builtin/recording/masked.ts'
import { turnWeight, type MaskingWays } from '../../../src/base/mask-turns.ts'
import { createMasker, secretMark } from '../../../src/base/masking.ts'
import { toAction } from '../../../src/schema/generated/actions.ts'
import { toObservation } from '../../../src/schema/generated/observations.ts'
import { toMessage } from '../../../src/schema/generated/values.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/masked')

const secret = 'sk-a-secret-of-some-length'
const long = `${'x '.repeat(4 * turnWeight)}${secret}`
const hidden = long.replace(secret, secretMark)
const image = `data:image/png;base64,${'iVBO'.repeat(turnWeight)}`

/** Counts the characters that are masked in each turn of the event loop, and all of them. */
function counting(
  ...secrets: readonly string[]
): MaskingWays & { readonly most: () => number; readonly all: () => number } {
  const masker = createMasker()
  masker.register([secret, ...secrets])
  let all = 0
  let now = 0
  let most = 0
  const count = (text: string): void => {
    if (now === 0) setImmediate(() => { now = 0 })
    now += text.length
    all += text.length
    most = Math.max(most, now)
  }
  return {
    mask(text) {
      count(text)
      return masker.mask(text)
    },
    stream() {
      const stream = masker.stream()
      return { isOutdated: false, push: (piece) => (count(piece), stream.push(piece)), end: () => stream.end() }
    },
    most: () => most,
    all: () => all,
  }
}

test('what a tool gave is masked in turns, an image too', async () => {
  const ways = counting()
  const content = [{ type: 'text', text: long }, { type: 'image', image_urls: [image] }] as const
  const masked = await maskObservation(
    toObservation({ kind: 'MCPToolObservation', tool_name: 't', content: [...content] }), ways,
  )
  assert.equal(
    masked,
    toObservation({
      kind: 'MCPToolObservation', tool_name: 't', content: [{ type: 'text', text: hidden }, content[1]],
    }),
  )
  assert.ok(ways.most() <= 2 * turnWeight, `${ways.most()} characters in one turn`)
})

test('an answer and an action are masked in turns', async () => {
  const ways = counting()
  assert.is(
    JSON.stringify(await maskMessage(toMessage({ role: 'assistant', content: long }), ways)).includes(secret), false,
  )
  const action = toAction({ kind: 'FileEditorAction', command: 'create', path: '/a', file_text: long })
  assert.equal(await maskAction(action, ways), { ...action, file_text: hidden })
  assert.ok(ways.most() <= 2 * turnWeight, `${ways.most()} characters in one turn`)
})

test('a long text is masked once, also where its value fits the schema only at the third trial', async () => {
  const ways = counting('str_replace')
  const action = toAction({
    kind: 'FileEditorAction', command: 'str_replace', path: '/a', file_text: long, insert_line: 7,
  })
  assert.equal(await maskAction(action, ways), { ...action, file_text: hidden })
  assert.ok(ways.all() < long.length + 1000, `${ways.all()} characters`)
})

test('of the words that are secrets, only those that the schema requires at their places stay', async () => {
  const ways = counting('hunterhunter', 'undo_edit', 'file_text', 'in_progress', 'FileEditorAction')
  const edit = toAction({
    kind: 'FileEditorAction', command: 'undo_edit', path: 'undo_edit', file_text: 'hunterhunter', old_str: 'file_text',
  })
  const hiddenEdit = { ...edit, path: secretMark, file_text: secretMark, old_str: secretMark }
  assert.equal(await maskAction(edit, ways), hiddenEdit)
  const tasks = toAction({
    kind: 'TaskTrackerAction',
    command: 'plan',
    task_list: [{ title: 'in_progress', notes: 'hunterhunter', status: 'in_progress' }, { title: 'own' }],
  })
  assert.equal(await maskAction(tasks, ways), {
    ...tasks,
    task_list: [
      { title: secretMark, notes: secretMark, status: 'in_progress' },
      { title: 'own', notes: '', status: 'todo' },
    ],
  })
  const message = toMessage({ role: 'assistant', content: 'hunterhunter' })
  assert.equal(
    await maskMessage(message, counting('assistant', 'hunterhunter', 'content')),
    toMessage({ role: 'assistant', content: secretMark }),
  )
})

test('a word that only its length makes fit is not recorded', async () => {
  const action = toAction({ kind: 'BrowserCloseTabAction', tab_id: 'qzxv' })
  await maskAction(action, counting('qzxv')).then(() => assert.unreachable(), (error: unknown) => {
    assert.match(String(error), 'does not fit its schema')
  })
})

test('an open value with many words that are secrets is masked whole beside a required word', async () => {
  const members = Array.from({ length: 5000 }, (_, at) => [`m${at}`, 'hunterhunter'])
  const path = 'x'.repeat(300)
  const data = { ...Object.fromEntries(members), hunterhunter: { [path]: { deep: 'hunterhunter' } } }
  const action = toAction({ kind: 'MCPToolAction', data })
  const masked = await maskAction(action, counting('MCPToolAction', 'hunterhunter'))
  assert.is(masked.kind, 'MCPToolAction')
  assert.is(JSON.stringify(masked).includes('hunterhunter'), false)
})

test.run()
