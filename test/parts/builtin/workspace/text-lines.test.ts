import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { withFolders } from '../../../support/workspace.ts'
import { suite } from '../../../support/suite.ts'
import { createWorkspace } from '../../../../src/parts/workspace-files/paths.ts'
import {
  countLines, pickLines, readLines, type LineRange, type Lines,
} from '../../../../src/parts/builtin/workspace/text-lines.ts'

const test = suite('workspace/text-lines')
const all = { first: 1, last: Infinity }

async function withLines(
  content: string | Buffer,
  body: (read: (range: LineRange, limitChars?: number) => Promise<Lines>, path: string) => Promise<void>,
): Promise<void> {
  await withFolders(async ({ workspace: dir }) => {
    const path = join(dir, 'file')
    await writeFile(path, content)
    const workspace = createWorkspace({ workingDir: dir, privateDirs: [] })
    const { signal } = new AbortController()
    await body(
      (range, limitChars = 1000) => workspace.at('file', (place) => readLines(place, range, { limitChars, signal })),
      path,
    )
  })
}

const table: readonly (readonly [string, LineRange, readonly string[], number | undefined])[] = [
  ['', all, [], 0],
  ['a', all, ['a'], 1],
  ['a\n', all, ['a'], 1],
  ['\n', all, [''], 1],
  ['a\nb\nc\n', { first: 2, last: 2 }, ['b'], undefined],
  ['a\nb\nc', { first: 3, last: 9 }, ['c'], 3],
  ['a\nb\nc', { first: 4, last: 9 }, [], 3],
  ['a\r\nb\r\n', all, ['a', 'b'], 2],
  ['a\n\n\nb', all, ['a', '', '', 'b'], 4],
]

test('a range is read from a file as from a text', async () => {
  for (const [content, range, lines, total] of table) {
    const picked = pickLines(content, range, 1000)
    assert.equal(picked, { lines, isCut: false, total: countLines(content) }, JSON.stringify(content))
    await withLines(content, async (read) => {
      assert.equal(await read(range), { lines, isCut: false, total }, JSON.stringify(content))
    })
  }
})

test('lines over the limit are cut, and the result says so', async () => {
  const content = `${'x'.repeat(50)}\n${'y'.repeat(100)}\nz\n`
  for (const limitChars of [60, 51, 50, 10]) {
    const expected = pickLines(content, all, limitChars)
    assert.ok(expected.isCut, String(limitChars))
    assert.ok(expected.lines.join('\n').length <= limitChars)
    await withLines(content, async (read) => {
      const { lines, isCut } = await read(all, limitChars)
      assert.equal({ lines, isCut }, { lines: expected.lines, isCut: true }, String(limitChars))
    })
  }
})

const atLimit: readonly (readonly [string, LineRange, readonly string[], boolean])[] = [
  ['abc', all, ['abc'], false],
  ['abc\n', all, ['abc'], false],
  ['abcd', all, ['abc'], true],
  ['abc\n\n', all, ['abc'], true],
  ['abc\nd', all, ['abc'], true],
  ['abc\nd', { first: 1, last: 1 }, ['abc'], false],
  ['ab\n', all, ['ab'], false],
  ['ab\n\n', all, ['ab', ''], false],
  ['ab\nc', all, ['ab'], true],
  ['a\nb', all, ['a', 'b'], false],
  ['xxxx\nabc', { first: 2, last: 9 }, ['abc'], false],
]

test('a text of exactly the limit is not cut', async () => {
  for (const [content, range, lines, isCut] of atLimit) {
    assert.equal(pickLines(content, range, 3), { lines, isCut, total: countLines(content) }, JSON.stringify(content))
    await withLines(content, async (read) => {
      const found = await read(range, 3)
      assert.equal({ lines: found.lines, isCut: found.isCut }, { lines, isCut }, JSON.stringify(content))
    })
  }
  const chunk = 'x'.repeat(256 * 1024)
  for (const [content, isCut] of [[chunk, false], [`${chunk}\n`, false], [`${chunk}y`, true]] as const) {
    await withLines(content, async (read) => {
      assert.equal(await read(all, chunk.length), { lines: [chunk], isCut, total: isCut ? undefined : 1 })
    })
  }
})

test('characters and line ends at the border of two chunks stay whole', async () => {
  for (const shift of [0, 1, 2, 3]) {
    const text = `${'x'.repeat(256 * 1024 - shift)}🙂\r\nend`
    await withLines(text, async (read) => {
      const { lines } = await read({ first: 2, last: 2 })
      assert.equal(lines, ['end'])
      const [first] = (await read(all, 1_000_000)).lines
      assert.is(first, text.slice(0, -5))
    })
  }
})

test('three hundred thousand lines are read by range', async () => {
  const content = Array.from({ length: 300_000 }, (_, index) => `line ${index + 1}\n`).join('')
  await withLines(content, async (read) => {
    assert.equal(await read({ first: 150_000, last: 150_001 }), {
      lines: ['line 150000', 'line 150001'], isCut: false, total: undefined,
    })
    assert.equal(await read({ first: 299_999, last: Infinity }), {
      lines: ['line 299999', 'line 300000'], isCut: false, total: 300_000,
    })
  })
})

test('a sparse file of a gigabyte is refused at its first hole', async () => {
  await withLines('begin\n', async (read, path) => {
    const handle = await open(path, 'r+')
    await handle.truncate(1024 * 1024 * 1024)
    await handle.close()
    await rejects(read({ first: 2, last: 3 }), /not a text file/)
  })
})

test('what is not UTF-8 is refused', async () => {
  for (const bytes of [Buffer.from([0x61, 0xff]), Buffer.from([0x61, 0xe2, 0x82]), Buffer.from('a\ud800', 'utf16le')]) {
    await withLines(bytes, async (read) => rejects(read(all), /not a text file/))
  }
})

test('reading ends when it is stopped', async () => {
  await withFolders(async ({ workspace: dir }) => {
    await writeFile(join(dir, 'file'), 'x')
    const workspace = createWorkspace({ workingDir: dir, privateDirs: [] })
    const signal = AbortSignal.abort(new Error('stopped'))
    await rejects(workspace.at('file', (place) => readLines(place, all, { limitChars: 10, signal })), /stopped/)
  })
})

async function rejects(work: Promise<unknown>, expected: RegExp): Promise<void> {
  const message = await work.then(() => 'it did not fail', (thrown: unknown) => String(thrown))
  assert.match(message, expected)
}

test.run()
