/** Which files a call changes, from every form in which agents tell it; several changes are a pair of events each. */
import * as assert from 'uvu/assert'
import { editsOf } from '../../../src/agents/acp/calls/edits.ts'
import { readApplyPatch, readUnifiedDiff } from '../../../src/agents/acp/calls/patch-text.ts'
import { mergeToolCall, newToolCall } from '../../../src/agents/acp/calls/tool-calls.ts'
import { memberAt } from '../../../src/base/fields.ts'
import { suite } from '../../support/suite.ts'
import { watch } from './watched-turn.ts'

const test = suite('acp edits')
const edits = (fields: object): readonly object[] =>
  editsOf(mergeToolCall(newToolCall, { kind: 'edit', ...fields }, false), '/project')
const diff = (path: string): object => ({ type: 'diff', path, oldText: 'a\n', newText: 'b\n' })
const replaced = (path: string): object => ({ do: 'replace', path, oldText: 'a\n', newText: 'b\n' })
const unified = (name: string): string => `--- ${name}\n+++ ${name}\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n`
const patch = [
  '*** Begin Patch', '*** Add File: new.txt', '+one', '+@@ two', '*** Update File: old.txt', '*** Move to: moved.txt',
  '@@ def f():', ' context', '-a', '+b', '@@', '-c', '+', '*** Delete File: gone.txt', '*** End Patch', '',
].join('\n')
const patched = [
  { do: 'create', path: '/project/new.txt', newText: 'one\n@@ two\n' },
  { do: 'move', path: '/project/old.txt', to: '/project/moved.txt' },
  { do: 'replace', path: '/project/moved.txt', oldText: 'context\na\n', newText: 'context\nb\n' },
  { do: 'replace', path: '/project/moved.txt', oldText: 'c\n', newText: '\n' },
  { do: 'delete', path: '/project/gone.txt' },
]

const calls: readonly (readonly [name: string, fields: object, expected: readonly object[]])[] = [
  ['diffs', { content: [diff('x'), diff('/y')] }, [replaced('/project/x'), replaced('/y')]],
  ['a patch as the input itself (Copilot)', { rawInput: patch }, patched],
  ['a patch in a member (opencode)', { rawInput: { patchText: patch } }, patched],
  ['a patch of a tool that is no edit by its kind (Cline)', { kind: 'other', rawInput: { input: patch } }, patched],
  ['a patch whose end has not come', { rawInput: patch.replace('*** End Patch\n', '') }, []],
  ['a patch that changes the end of a file', { rawInput: patch.replace('+\n*** Del', '+\n*** End of File\n*** Del') },
    patched],
  ['words that begin with a patch in a command', { kind: 'execute', rawInput: { input: patch } }, []],
  ['a unified diff', { rawInput: { diff: unified('x') } },
    [{ do: 'replace', path: '/project/x', oldText: 'a\nc\n', newText: 'b\nc\n' }]],
  [
    'a unified diff with names as Git writes them, and the place beside it (Copilot)',
    {
      rawInput: { diff: `diff --git a/x b/x\n${unified('a/x').replace('+++ a/', '+++ b/')}` },
      locations: [{ path: '/deep/x' }],
    },
    [{ do: 'replace', path: '/deep/x', oldText: 'a\nc\n', newText: 'b\nc\n' }],
  ],
  [
    'files with a patch each (opencode)',
    {
      rawInput: {
        files: [
          { filePath: '/project/n', type: 'add', patch: '--- /project/n\n+++ /project/n\n@@ -0,0 +1,1 @@\n+a\n' },
          { filePath: '/project/d', type: 'delete', patch: unified('/project/d') },
          { filePath: '/project/f', movePath: '/project/t', type: 'move', patch: '' },
        ],
      },
    },
    [{ do: 'create', path: '/project/n', newText: 'a\n' }, { do: 'delete', path: '/project/d' },
      { do: 'move', path: '/project/f', to: '/project/t' }],
  ],
  ['a diff in the result', { rawOutput: { fileDiff: unified('x') } },
    [{ do: 'replace', path: '/project/x', oldText: 'a\nc\n', newText: 'b\nc\n' }]],
  ['words of a file editor', { rawInput: { command: 'str_replace', path: '/x', old_str: 'a', new_str: null } },
    [{ do: 'replace', path: '/x', oldText: 'a', newText: '' }]],
  ['an insertion', { rawInput: { command: 'insert', path: '/x', insert_line: 2, new_str: 'a' } },
    [{ do: 'insert', path: '/x', line: 2, newText: 'a' }]],
  ['a new file in words', { rawInput: { command: 'create', path: '/x', file_text: '' } },
    [{ do: 'create', path: '/x', newText: '' }]],
  ['an old text without a new one, which may be still to come', { rawInput: { file_path: '/x', old_string: 'a' } }, []],
]

for (const [name, fields, expected] of calls) test(`finds ${name}`, () => assert.equal(edits(fields), expected))

test('a diff of two files with an end without a newline', () => {
  const text = `${unified('x')}--- y\tCurrent\n+++ y\tProposed\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n`
  assert.equal(readUnifiedDiff(text), [
    { do: 'replace', path: 'x', oldText: 'a\nc\n', newText: 'b\nc\n' },
    { do: 'replace', path: 'y', oldText: 'a', newText: 'b\n' },
  ])
})

test('a diff against nothing makes or deletes a file', () => {
  assert.equal(readUnifiedDiff('--- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+a\n'), [
    { do: 'create', path: 'b', newText: 'a\n' },
  ])
  assert.equal(readUnifiedDiff('--- b\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n'), [{ do: 'delete', path: 'b' }])
})

test('a line of a file that looks like a header is a line', () => {
  assert.equal(readUnifiedDiff('--- x\n+++ x\n@@ -1 +1 @@\n--- a\n+++ b\n'), [
    { do: 'replace', path: 'x', oldText: '-- a\n', newText: '++ b\n' },
  ])
})

test('other texts are no patches', () => {
  for (const text of ['', 'hello', '--- x', '*** Begin Patch', 'x'.repeat(2_000_000)]) {
    assert.equal([...readUnifiedDiff(text), ...readApplyPatch(text)], [])
  }
})

test('each change of a call is an action with an answer of its own, and a denial is the answer of all', () => {
  const turn = watch()
  const files = { kind: 'edit', title: 'Apply', rawInput: { patchText: patch } }
  turn.call({ ...files, status: 'completed', rawOutput: { output: 'Done' } })
  const actions = turn.drafts.filter(({ kind }) => kind === 'ActionEvent')
  const answers = turn.drafts.filter(({ kind }) => kind === 'ObservationEvent')
  assert.equal(actions.map((draft) => memberAt(draft, 'tool_call_id')), ['t1', 't1~1', 't1~2', 't1~3', 't1~4'])
  assert.equal(answers.map((draft) => memberAt(draft, 'tool_call_id')), ['t1', 't1~1', 't1~2', 't1~3', 't1~4'])
  assert.equal(actions.map((draft) => memberAt(draft, 'tool_name')), ['edit', 'move', 'edit', 'edit', 'delete'])
  assert.equal(actions.map((draft) => memberAt(draft, 'summary')), [
    'Create new.txt', 'Move old.txt to moved.txt', 'Edit moved.txt', 'Edit moved.txt', 'Delete gone.txt',
  ])
  assert.match(JSON.stringify(answers[0]), /"text":"Done"/)
  assert.match(JSON.stringify(answers[4]), /One of several changes of the call t1/)

  turn.events.asks({ toolCallId: 't2', ...files })
  turn.events.rejects('t2', 'No')
  assert.is(turn.kinds().filter((kind) => kind === 'UserRejectObservation').length, 5)
  assert.not(turn.events.hasOpenCalls)
})

test.run()
