/** Which folders become data folders, and that a refused one is left as it was. */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { claimDataFolder, isDataFolder } from '../../src/storage/data-folder-claim.ts'
import { suite } from '../support/suite.ts'
import { failure, withFolder } from './samples.ts'

const test = suite('storage/data-folder-claim')

test('makes a data folder of one that is not there, empty, or as a crash or mkfs left it', () =>
  withFolder(async (path) => {
    const folders = ['missing', 'empty', 'crashed', 'mkfs']
    for (const name of folders.slice(1)) await mkdir(join(path, name), { mode: 0o700 })
    await writeFile(join(path, 'crashed', '.format.json.0123456789ab.tmp'), '{')
    await mkdir(join(path, 'mkfs', 'lost+found'))
    for (const name of folders) {
      assert.is(await isDataFolder(join(path, name)), false)
      await claimDataFolder(join(path, name))
      assert.is(await isDataFolder(join(path, name)), true, name)
    }
  }))

test('refuses any other folder and changes nothing in it', () =>
  withFolder(async (path) => {
    for (const name of ['agents', 'list.json', 'lock', '.hidden', '.other.json.0123456789ab.tmp']) {
      const folder = join(path, `with ${name}`)
      await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
      for (const attempt of [claimDataFolder, isDataFolder]) {
        const error = await failure(attempt(folder))
        assert.is(error.code, 'format_unsupported')
        assert.match(
          error.message,
          `"${folder}" as the data folder: it is no data folder, it has no "format.json" but holds "${name}"`,
        )
      }
      assert.equal(await readdir(folder), [name])
    }
  }))

test('of many that claim a folder at once, one makes it', () =>
  withFolder(async (path) => {
    const folder = join(path, 'data')
    const formats = await Promise.all(Array.from({ length: 8 }, async () => {
      await claimDataFolder(folder)
      return readFile(join(folder, 'format.json'), 'utf8')
    }))
    assert.is(new Set(formats).size, 1)
    assert.equal(await readdir(folder), ['format.json'])
  }))

test('refuses a folder that other users may write, new or old, and tells of one that they may read', () =>
  withFolder(async (path) => {
    const folder = join(path, 'data')
    await mkdir(folder)
    for (const mode of [0o777, 0o1777, 0o720, 0o702]) {
      await chmod(folder, mode)
      const error = await failure(claimDataFolder(folder))
      assert.is(error.code, 'storage_failed')
      assert.match(
        error.message, /other users may write it \(mode 07\d\d\); expected chmod 700, or a folder of its own$/,
      )
      assert.equal(await readdir(folder), [])
    }
    await chmod(folder, 0o750)
    assert.equal(await claimDataFolder(folder), { othersMay: 'read' })
    await chmod(folder, 0o770)
    assert.is((await failure(claimDataFolder(folder))).code, 'storage_failed')
    await chmod(folder, 0o700)
    assert.equal(await claimDataFolder(folder), { othersMay: 'nothing' })
  }))

test.run()
