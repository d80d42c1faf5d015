import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError, systemCodeOf } from '../../src/base/errors.ts'
import { readJsonFile, writeJsonFile } from '../../src/base/json-file.ts'
import {
  makeFolder, ownFolder, removeTemporaryFiles, storageError, writeFileAtomically,
} from '../../src/base/own-files.ts'
import { suite } from '../support/suite.ts'

const test = suite('base/json-file')
const folder = await mkdtemp(join(tmpdir(), 'json-file-'))
test.after(() => rm(folder, { recursive: true }))

const failure = async (promise: Promise<unknown>): Promise<AppError> => {
  const thrown: unknown = await promise.then(() => undefined, (reason: unknown) => reason)
  if (!(thrown instanceof AppError)) throw new Error(`expected an AppError, got ${String(thrown)}`)
  return thrown
}

test('reads back what it wrote, indented, ending in a newline and for the owner alone', async () => {
  const path = join(folder, 'round.json')
  await writeJsonFile(path, { a: [1, 'ü'] })
  assert.equal(await readJsonFile(path), { a: [1, 'ü'] })
  assert.is(await readFile(path, 'utf8'), '{\n  "a": [\n    1,\n    "ü"\n  ]\n}\n')
  assert.is((await stat(path)).mode & 0o777, 0o600)
})

test('does not write what it would refuse to read, and leaves the file as it was', async () => {
  const path = join(folder, 'grown.json')
  await writeJsonFile(path, { members: Array(40_000).fill(1) })
  const error = await failure(writeJsonFile(path, { members: Array(60_000).fill(1) }))
  assert.is(error.code, 'invalid_input')
  assert.match(error.message, 'Cannot write "grown.json": it would hold too much, expected at most 50000 values')
  assert.equal(await readJsonFile(path), { members: Array(40_000).fill(1) })
})

test('says undefined for a file that is not there', async () => {
  assert.is(await readJsonFile(join(folder, 'missing.json')), undefined)
})

test('writes no file of more than 16 MiB', async () => {
  const path = join(folder, 'long.json')
  const error = await failure(writeJsonFile(path, { a: 'é'.repeat(8 * 1024 * 1024) }))
  assert.match(error.message, 'expected at most 50000 values and 16777216 bytes')
  assert.is(await readJsonFile(path), undefined)
})

test('refuses a file that is not JSON, too long, too deep or a folder, and names it without its folders', async () => {
  const path = join(folder, 'broken.json')
  await mkdir(join(folder, 'folder.json'))
  for (const [content, limitBytes] of [
    ['{"a":', 100], ['', 100], ['"long"', 5], ['['.repeat(300) + ']'.repeat(300), 1000],
  ] as const) {
    await writeFile(path, content)
    const error = await failure(readJsonFile(path, { limitBytes }))
    assert.is(error.code, 'storage_failed')
    assert.match(error.message, /^Cannot read "broken.json": /)
    assert.not.match(error.message, folder)
  }
  const error = await failure(readJsonFile(join(folder, 'folder.json')))
  assert.is(error.message, 'Cannot read "folder.json": EISDIR')
})

test('quotes nothing of a file that is not JSON, and says where the fault is as far as that is known', async () => {
  const path = join(folder, 'secret.json')
  const contents: [string, string][] = [
    ['hunter2-hunter2', ''],
    ['{"key": hunter2-hunter2}', ''],
    ['{"hunter2": 1,}', ' at position 14'],
    ['["hunter2', ' at position 9'],
  ]
  for (const [content, place] of contents) {
    await writeFile(path, content)
    const error = await failure(readJsonFile(path))
    assert.is(error.message, `Cannot read "secret.json": it is not JSON${place}`)
    assert.not.match(String(error.cause), 'hunter')
  }
})

test('keeps the old file and leaves no temporary one when a write fails', async () => {
  const target = join(folder, 'taken')
  await mkdir(join(target, 'inside'), { recursive: true })
  const before = await readdir(folder)
  const error = await failure(writeJsonFile(target, 1))
  assert.is(error.code, 'storage_failed')
  assert.equal(await readdir(folder), before)
  assert.is((await failure(writeJsonFile(join(folder, 'no', 'such', 'folder'), 1))).code, 'storage_failed')
})

test('lets the last of many writes at once stay whole', async () => {
  const path = join(folder, 'race.json')
  await Promise.all(
    Array.from({ length: 20 }, (_, number) => writeFileAtomically(path, JSON.stringify(Array(5000).fill(number)))),
  )
  const value = await readJsonFile(path)
  assert.ok(Array.isArray(value) && value.length === 5000 && new Set(value).size === 1)
  assert.equal((await readdir(folder)).filter((name) => name.includes('race.json.')), [])
})

test('removes temporary files and nothing else', async () => {
  const inner = join(folder, 'inner')
  await mkdir(inner)
  for (const name of ['.a.json.0123456789ab.tmp', '.a.json.tmp', 'b.tmp', 'c.json']) {
    await writeFile(join(inner, name), '')
  }
  await removeTemporaryFiles(inner)
  assert.equal((await readdir(inner)).sort(), ['.a.json.tmp', 'b.tmp', 'c.json'])
})

test('tells a full disk and a full quota from other failures, and passes an AppError on', () => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    assert.is(storageError('Cannot write', Object.assign(new Error('x'), { code })).code, 'storage_full')
  }
  assert.is(storageError('Cannot write', Object.assign(new Error('x'), { code: 'EIO' })).message, 'Cannot write: EIO')
  assert.is(storageError('Cannot write', 'odd').message, 'Cannot write: odd')
  const own = new AppError('conflict', 'No')
  assert.is(storageError('Cannot write', own), own)
})

test('makes a folder with those above it, and leaves one that is there as it is', async () => {
  const path = join(folder, 'above', 'made')
  await makeFolder(path, ownFolder)
  await writeFile(join(path, 'kept'), '')
  await makeFolder(path, { mode: 0o755 })
  assert.equal([(await stat(path)).mode & 0o777, await readdir(path)], [0o700, ['kept']])
  await writeFile(join(folder, 'file'), '')
  const thrown = await makeFolder(join(folder, 'file', 'made')).catch((reason: unknown) => reason)
  assert.is(systemCodeOf(thrown), 'ENOTDIR')
})

if (process.platform === 'linux') {
  test('gives up where the system makes no folder', async () => {
    const thrown = await makeFolder('/proc/nothing/made').catch((reason: unknown) => reason)
    assert.is(systemCodeOf(thrown), 'ENOENT')
  })
} else {
  test.skip('gives up where the system makes no folder', 'it needs /proc')
}

test.run()
