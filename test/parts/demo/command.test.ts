/** One command of the demonstration agent, as a real process: its output, its end, and the signal that prevents it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { runCommand } from '../../../src/parts/demo/command.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/demo/command')
const { folder, remove } = makeFolder()

test.after(remove)

test('a command passes its output on and reports its exit code', async () => {
  const output: string[] = []
  const { signal } = new AbortController()
  const end = await runCommand({
    command: 'touch began; echo hello; exit 3', cwd: folder, signal, onOutput: (text) => output.push(text),
  })
  assert.equal(end, { exitCode: 3, signal: null, words: 'exit code 3' })
  assert.is(output.join(''), 'hello\n')
  assert.ok(existsSync(join(folder, 'began')))
})

test('a command is not started when the signal is already aborted', async () => {
  const signal = AbortSignal.abort()
  const end = await runCommand({ command: 'touch unwanted', cwd: folder, signal, onOutput: () => undefined })
  assert.equal(end, { exitCode: null, signal: null, words: 'not started: the prompt is cancelled' })
  assert.not.ok(existsSync(join(folder, 'unwanted')))
})

test.run()
