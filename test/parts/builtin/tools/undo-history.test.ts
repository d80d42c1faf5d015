import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { testCipher } from '../../../support/cipher.ts'
import { suite } from '../../../support/suite.ts'
import { createCipher } from '../../../../src/settings/cipher.ts'
import {
  createUndoHistory, resealUndoHistory, type UndoHistory, type UndoLimits,
} from '../../../../src/parts/builtin/tools/undo-history.ts'

const test = suite('agents/tools/undo-history')

async function withHistory(
  limits: Partial<UndoLimits>, body: (history: UndoHistory, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'undo-'))
  try {
    await body(createUndoHistory(folder, { limitEntries: 100, limitBytes: 1000, ...limits }, testCipher()), folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A change from version n to version n + 1. */
function change(path: string, number: number, size = 10): Parameters<UndoHistory['record']>[0] {
  return { path, before: { bytes: Buffer.alloc(size, 'x'), version: String(number) }, version: String(number + 1) }
}

test('the newest change of a file is found, and its former content', async () => {
  await withHistory({}, async (history) => {
    assert.is(await history.newest('/a'), undefined)
    await history.record(change('/a', 1))
    await history.record(change('/b', 5, 3))
    await history.record({ path: '/c', before: undefined, version: '1' })
    const entry = await history.newest('/b')
    assert.equal([entry?.version, entry?.versionBefore, entry?.bytes], ['6', '5', 3])
    assert.is(entry === undefined ? '' : (await history.contentBefore(entry))?.toString(), 'xxx')
    const made = await history.newest('/c')
    assert.is(made === undefined ? '' : await history.contentBefore(made), undefined)
  })
})

test('the first change removes the temporary files of a crash', async () => {
  await withHistory({}, async (history, folder) => {
    for (const name of ['.a.0123456789ab.tmp', '.a.tmp']) await writeFile(join(folder, name), 'x')
    await history.record(change('/a', 1))
    assert.equal((await readdir(folder)).filter((name) => name.endsWith('.tmp')), ['.a.tmp'])
  })
})

test('when a change is undone, the one before it stands again, with the new version', async () => {
  await withHistory({}, async (history) => {
    await history.record(change('/a', 1))
    await history.record(change('/b', 1))
    await history.record(change('/a', 2))
    const entry = await history.newest('/a')
    if (entry === undefined) throw new Error('it was recorded')
    await history.forget(entry, 'new')
    assert.is((await history.newest('/a'))?.version, 'new')
    assert.is((await history.newest('/b'))?.version, '2')
  })
})

test('a change on top of something else does not make the one before it stand again', async () => {
  await withHistory({}, async (history) => {
    await history.record(change('/a', 1))
    await history.record(change('/a', 7))
    const entry = await history.newest('/a')
    if (entry === undefined) throw new Error('it was recorded')
    await history.forget(entry, 'new')
    assert.is((await history.newest('/a'))?.version, '2')
  })
})

test('the newest entries within a number and a size are kept, with nothing else in the folder', async () => {
  await withHistory({ limitEntries: 3 }, async (history, folder) => {
    for (const [index, path] of ['/a', '/b', '/c', '/d'].entries()) await history.record(change(path, index))
    assert.is(await history.newest('/a'), undefined)
    assert.is((await readdir(folder)).length, 4)
  })
  await withHistory({ limitBytes: 25 }, async (history, folder) => {
    for (const path of ['/a', '/b', '/c']) await history.record(change(path, 1))
    assert.is(await history.newest('/a'), undefined)
    await history.record(change('/d', 1, 26))
    assert.is(await history.newest('/d'), undefined)
    assert.ok((await history.newest('/c')) !== undefined)
    assert.is((await readdir(folder)).length, 3)
  })
})

test('entries that are none of ours are ignored', async () => {
  await withHistory({}, async (history, folder) => {
    const entry = { id: '../../../../etc/passwd', path: '/a', version: '1', versionBefore: '2', bytes: 1 }
    await writeFile(join(folder, 'index.json'), JSON.stringify([1, null, {}, entry]))
    assert.is(await history.newest('/a'), undefined)
    await writeFile(join(folder, 'index.json'), '{}')
    assert.is(await history.newest('/a'), undefined)
  })
})

test(
  'former contents are sealed, whatever their bytes; one of another key is not taken for a file that was not there',
  async () => {
    await withHistory({}, async (history, folder) => {
      const bytes = Buffer.from([...Array(256).keys()].concat([...Buffer.from('a secret of the file')]))
      await history.record({ path: '/a', before: { bytes, version: '1' }, version: '2' })
      const entry = await history.newest('/a')
      if (entry === undefined) throw new TypeError('Expected an entry')
      const kept = await readFile(join(folder, entry.id), 'latin1')
      assert.match(kept, /^as1:[0-9a-f]{8}:[A-Za-z0-9_-]+$/)
      assert.equal(await history.contentBefore(entry), bytes)
      const other = createUndoHistory(folder, { limitEntries: 100, limitBytes: 1000 }, testCipher(2))
      assert.is(
        await other.contentBefore(entry).catch((error: Error) => error.message),
        'Cannot undo: the former content of "/a" was sealed with another key',
      )
    })
  },
)

test('is sealed anew with the newest key; what no key opens stays as it is', async () => {
  await withHistory({}, async (history, folder) => {
    const bytes = Buffer.from('before')
    await history.record({ path: '/a', before: { bytes, version: '1' }, version: '2' })
    await history.record({ path: '/b', before: undefined, version: '1' })
    const keys = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)]
    const rotated = createCipher({ keys, random: randomBytes })
    const [newest = '', old = ''] = rotated.keyIds
    assert.equal([...await resealUndoHistory(folder, testCipher(3))], [old])
    assert.equal([...await resealUndoHistory(folder, rotated)], [newest])
    const entry = await history.newest('/a')
    if (entry === undefined) throw new TypeError('Expected an entry')
    assert.equal(
      await createUndoHistory(folder, { limitEntries: 100, limitBytes: 1000 }, testCipher(2)).contentBefore(entry),
      bytes,
    )
    assert.equal([...await resealUndoHistory(join(folder, 'none'), rotated)], [])
  })
})

test('a content that cannot be read is an error of sealing anew, and a missing content is not', async () => {
  await withHistory({}, async (history, folder) => {
    await history.record(change('/a', 1))
    const { id = '' } = await history.newest('/a') ?? {}
    await rm(join(folder, id))
    assert.equal([...await resealUndoHistory(folder, testCipher())], [])
    await mkdir(join(folder, id))
    const error = await resealUndoHistory(folder, testCipher()).catch((thrown: unknown) => thrown)
    assert.match(String(error), /Cannot read a content that undo needs/)
  })
})

test.run()
