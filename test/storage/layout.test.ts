import { chmod, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openDataFolder } from '../../src/storage/layout.ts'
import { suite } from '../support/suite.ts'
import { failure, withFolder } from './samples.ts'

const test = suite('storage/layout')
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

test('makes the data folder with its format, for the owner alone', () =>
  withFolder(async (path) => {
    const folder = await openDataFolder(join(path, 'new', 'data'))
    const { format, instance } = JSON.parse(await readFile(join(folder.path, 'format.json'), 'utf8'))
    assert.is(format, 1)
    assert.match(folder.instance, new RegExp(`^${instance}-[0-9a-f]{8}$`))
    for (const made of [folder.path, folder.conversations, folder.temporary]) assert.is(await modeOf(made), 0o700)
    assert.is(await modeOf(join(folder.path, 'format.json')), 0o600)
    assert.equal(await openDataFolder(folder.path), folder)
  }))

test('leaves the mode and the other content of a data folder, and removes half-written files', () =>
  withFolder(async (path) => {
    const data = join(path, 'data')
    await openDataFolder(data)
    await chmod(data, 0o750)
    await writeFile(join(data, 'note'), 'x')
    await writeFile(join(data, '.format.json.0123456789ab.tmp'), '{')
    await openDataFolder(data)
    assert.is(await modeOf(data), 0o750)
    assert.equal((await readdir(data)).sort(), ['conversations', 'format.json', 'note', 'temporary'])
  }))

test('refuses a newer or unknown format and touches nothing', () =>
  withFolder(async (path) => {
    for (const [content, message] of [
      ['{"format":2}', /its format is 2, this version knows up to 1/],
      ['{"format":0}', /does not say format 1/],
      ['[]', /does not say format 1/],
    ] as const) {
      await writeFile(join(path, 'format.json'), content)
      const error = await failure(openDataFolder(path))
      assert.is(error.code, 'format_unsupported')
      assert.match(error.message, message)
      assert.equal(await readdir(path), ['format.json'])
    }
  }))

test('says storage_failed when the folder cannot be made or read', () =>
  withFolder(async (path) => {
    await writeFile(join(path, 'file'), '')
    assert.is((await failure(openDataFolder(join(path, 'file')))).code, 'storage_failed')
    await writeFile(join(path, 'format.json'), 'x')
    assert.is((await failure(openDataFolder(path))).code, 'storage_failed')
  }))

test('says that the name of a folder is taken', () =>
  withFolder(async (path) => {
    const data = join(path, 'data')
    await openDataFolder(data)
    await rmdir(join(data, 'conversations'))
    await writeFile(join(data, 'conversations'), '')
    const { code, message } = await failure(openDataFolder(data))
    assert.equal([code, message], ['storage_failed', 'Cannot open the data folder: the name is taken'])
  }))

test.run()
