/** Whether command lines split as in sh, with nothing expanded. */
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { splitCommand } from '../../src/settings/command.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/command')

const lines: readonly (readonly [string, readonly string[]])[] = [
  ['', []],
  ['   \t\n ', []],
  ['npx -y @google/gemini-cli@0.61.0 --acp', ['npx', '-y', '@google/gemini-cli@0.61.0', '--acp']],
  ['  a   b  ', ['a', 'b']],
  ["'a b' c", ['a b', 'c']],
  ['"a b" c', ['a b', 'c']],
  [`a'b'"c"d`, ['abcd']],
  ["''", ['']],
  [`x "" ''`, ['x', '', '']],
  ['a\\ b', ['a b']],
  [`'a\\nb'`, ['a\\nb']],
  [`"a\\"b\\\\c\\$d\\\`e\\nf"`, ['a"b\\c$d`e\\nf']],
  ['"it\'s"', ["it's"]],
  ['a\\\nb "c\\\nd"', ['ab', 'cd']],
  ['echo $HOME *.ts ~ | cat > x; y & z $(id) `id`',
    ['echo', '$HOME', '*.ts', '~', '|', 'cat', '>', 'x;', 'y', '&', 'z', '$(id)', '`id`']],
  ['# not a comment', ['#', 'not', 'a', 'comment']],
  ['é "日本 語"', ['é', '日本 語']],
]
for (const [line, words] of lines) {
  test(`splits ${JSON.stringify(line)}`, () => assert.equal(splitCommand(line), words))
}

for (const line of [`a 'b`, `a "b`, 'a \\', '"a\\"', 'a\0b', 'x'.repeat(32_769)]) {
  test(`refuses ${JSON.stringify(line.slice(0, 20))}`, () => {
    assert.throws(() => splitCommand(line), (error: unknown) => {
      return error instanceof AppError && error.code === 'invalid_input'
    })
  })
}

test('does not show the line in its refusal', () => {
  assert.throws(() => splitCommand("agent --key 'canary-secret"), (error: Error) => !error.message.includes('canary'))
})

test('takes the longest line that is allowed', () => {
  assert.is(splitCommand(`"${'\\"'.repeat(16_000)}"`)[0]?.length, 16_000)
})

test.run()
