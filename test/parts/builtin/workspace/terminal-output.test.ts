import { suite } from '../../../support/suite.ts'
import * as assert from 'uvu/assert'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TerminalOutput, type TerminalOutputOptions } from '../../../../src/parts/builtin/workspace/terminal-output.ts'
import { makeFolder } from '../../../support/processes.ts'

const test = suite('workspace/terminal-output')

async function withOutput(
  options: Partial<TerminalOutputOptions>, body: (
    output: TerminalOutput, folder: string, errors: unknown[],
  ) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  const errors: unknown[] = []
  let count = 0
  const defaults = {
    folder: join(folder, 'observations'), createId: () => String(++count), limitChars: 10, fileLimitBytes: 1000,
    onError: (error: unknown) => errors.push(error),
  }
  try {
    await body(new TerminalOutput({ ...defaults, ...options }), folder, errors)
  } finally {
    remove()
  }
}

test('gives a text that is no longer than the limit as it is, and writes nothing', () => withOutput({}, async (
  output, folder,
) => {
  await output.write('01234')
  await output.write('56789')
  assert.equal(await output.take(), { text: '0123456789' })
  assert.equal(await output.take(), { text: '' })
  assert.not.ok(existsSync(join(folder, 'observations')))
}))

test('gives the beginning and the end of a longer one, and keeps the whole', () => withOutput({}, async (
  output, folder,
) => {
  for (const char of 'abcdefghijklmnopqrstuvwxyz') await output.write(char)
  const file = join(folder, 'observations', 'terminal-1.txt')
  assert.equal(await output.take(), { text: 'abcde\n[... 16 characters are left out here ...]\nvwxyz', file })
  assert.is(readFileSync(file, 'utf8'), 'abcdefghijklmnopqrstuvwxyz')
  assert.is(statSync(file).mode & 0o777, 0o600)
  await output.write('x'.repeat(11))
  assert.match((await output.take()).file ?? '', /terminal-2\.txt$/)
}))

test('keeps the whole when a text comes before the one before it is written, and when the call ends then', () => withOutput(
  {},
  async (output, folder, errors) => {
    const writing = [output.write('a'.repeat(20)), output.write('b'.repeat(20))]
    const { file } = await output.take()
    await Promise.all(writing)
    assert.equal(errors, [])
    assert.is(file, join(folder, 'observations', 'terminal-1.txt'))
    assert.is(readFileSync(file ?? '', 'utf8'), `${'a'.repeat(20)}${'b'.repeat(20)}`)
  },
))

test('gives the same for any way of cutting the text', async () => {
  const text = Array.from({ length: 40 }, (_, index) => String.fromCharCode(65 + index)).join('')
  for (const size of [1, 3, 7, 39, 40]) {
    await withOutput({}, async (output) => {
      for (let index = 0; index < text.length; index += size) await output.write(text.slice(index, index + size))
      const { text: given, file = '' } = await output.take()
      assert.is(given, `ABCDE\n[... 30 characters are left out here ...]\n${text.slice(-5)}`)
      assert.is(readFileSync(file, 'utf8'), text)
    })
  }
})

test('never cuts through a character', () => withOutput({}, async (output) => {
  await output.write('abcd😀efghijkl😀1234')
  assert.is((await output.take()).text, 'abcd\n[... 12 characters are left out here ...]\n1234')
}))

test('writes no more than the limit of a file', () => withOutput({ fileLimitBytes: 20 }, async (output) => {
  for (let count = 0; count < 10; count++) await output.write('0123456')
  assert.is(statSync((await output.take()).file ?? '').size, 20)
}))

test('reports a file that cannot be written, once, and goes on without', () => withOutput({}, async (
  output, folder, errors,
) => {
  writeFileSync(join(folder, 'observations'), '')
  await output.write('0123456789a')
  await output.write('b')
  assert.is((await output.take()).file, undefined)
  assert.is(errors.length, 1)
  assert.equal(readdirSync(folder), ['observations'])
}))

test.run()
