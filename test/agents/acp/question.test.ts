/** The question that a client sees: the command or the change, and nothing that could be taken for another question. */
import * as assert from 'uvu/assert'
import { questionOf } from '../../../src/agents/acp/turn/question.ts'
import { suite } from '../../support/suite.ts'
import { watch } from './watched-turn.ts'

const test = suite('acp question')

function asked(fields: object): ReturnType<typeof questionOf> {
  const [call] = watch().events.asks({ toolCallId: 'q', title: 'Tool', status: 'pending', ...fields })
  assert.ok(call)
  return questionOf(call)
}

test('shows the command and its places', () => {
  const locations = [{ path: '/a', line: 3 }, { path: '/b' }, { line: 4 }]
  const { command, diff, locations: shown, actionId } = asked({
    kind: 'execute', rawInput: { command: 'make' }, locations,
  })
  assert.equal([command, diff, actionId], ['make', undefined, 'e1'])
  assert.equal(shown, [{ path: '/a', line: 3 }, { path: '/b', line: null }])
})

test('shows the first of several changes, and how many others there are', () => {
  const change = (path: string): object => ({ type: 'diff', path, oldText: 'x', newText: 'y' })
  const { diff } = asked({ kind: 'edit', content: [change('/a'), change('/b'), change('/c')] })
  assert.equal(diff, { path: '/a', old_text: 'x', new_text: 'y', more: 2 })
})

const patch = (...lines: readonly string[]): object => ({
  kind: 'edit', rawInput: { patchText: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') },
})
const changes: readonly (readonly [
  what: string, fields: object, old_text: string | null, new_text: string | null,
])[] = [
  ['a new file', { kind: 'edit', content: [{ type: 'diff', path: '/repo/a', oldText: null, newText: 'y' }] }, null,
    'y'],
  ['a file that is emptied', { kind: 'edit', content: [{ type: 'diff', path: '/repo/a', oldText: 'x', newText: '' }] },
    'x', ''],
  ['a file that is deleted', patch('*** Delete File: a'), null, null],
  ['a file that is moved away', patch('*** Update File: a', '*** Move to: b'), null, null],
  ['an insertion', { kind: 'edit', rawInput: { command: 'insert', path: '/repo/a', insert_line: 3, new_str: 'y' } }, '',
    'y'],
]

for (const [what, fields, old_text, new_text] of changes) {
  test(`tells ${what} apart`, () => assert.equal(asked(fields).diff, { path: '/repo/a', old_text, new_text, more: 0 }))
}

test('cuts a long text, with a mark', () => {
  const { command } = asked({ kind: 'execute', rawInput: { command: 'x'.repeat(20_001) } })
  assert.match(command ?? '', /^x{20000}\n\[\.\.\. 20001 characters in all; the action has the whole\]$/)
})

test.run()
