/** The disk space of the conversations of keys: the files that count, the folders that are read again, and when. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import type { ListEntry } from '../../../src/conversation/list/sorted-entries.ts'
import { NamedKeys, type KeyLimits } from '../../../src/http/principal.ts'
import { folderBytes } from '../../../src/parts/retention/folder-size.ts'
import { KeyUse } from '../../../src/parts/retention/key-use.ts'
import { Limits } from '../../../src/parts/retention/limits.ts'
import { inFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/retention: the disk space of keys')

// A measurement begins when the test says so.
mock.timers.enable({ apis: ['setInterval'] })
test.after(() => mock.timers.reset())

const KiB = 1024

interface World {
  readonly use: KeyUse
  readonly entries: Map<string, ListEntry>
  readonly open: Set<string>
  /** The limits of the existing keys. */
  readonly limits: Map<string, KeyLimits>
  readonly time: { now: number }
  /** Writes a file of this size into the folder of a conversation. */
  write(id: string, bytes: number): void
  /** Does the same, and lists the conversation with a new entry. */
  put(id: string, madeBy: string | undefined, bytes: number, updatedAt?: string): void
  /** Measures once, and returns the bytes of the key. */
  measured(name: string): Promise<number>
  /** Returns the bytes of the folders of these conversations. */
  bytesOf(...ids: readonly string[]): Promise<number>
}

function withUse(body: (world: World) => Promise<void>): Promise<void> {
  return inFolder(async (dataDir) => {
    const [entries, open] = [new Map<string, ListEntry>(), new Set<string>()]
    const limits = new Map([['ci', disk(1)], ['other', disk(1)], ['free', disk(undefined)]])
    const namedKeys = new NamedKeys()
    namedKeys.source = {
      find: () => undefined, byId: () => undefined, limitsOf: (name) => limits.get(name),
      list: () => [...limits].map(([name, own]) => ({ name, limits: own })),
    }
    const time = { now: 0 }
    const listed = { entries: () => [...entries.values()], isOpen: (id: string) => open.has(id) }
    const use = new KeyUse({ dataDir, clock: () => time.now, listed, namedKeys })
    const folderOf = (id: string): string => join(dataDir, 'conversations', id)
    const write = (id: string, bytes: number): void => {
      mkdirSync(folderOf(id), { recursive: true })
      writeFileSync(join(folderOf(id), 'log'), Buffer.alloc(bytes, 1))
    }
    try {
      await body({
        use, entries, open, limits, time,
        write,
        put(id, madeBy, bytes, updatedAt = '1') {
          write(id, bytes)
          entries.set(id, entryOf(id, madeBy, updatedAt))
        },
        async measured(name) {
          time.now += 1000
          use.refresh()
          await use.idle()
          return use.bytesOf(name)
        },
        async bytesOf(...ids) {
          const sizes = await Promise.all(ids.map((id) => folderBytes(folderOf(id))))
          return sizes.reduce((sum, size) => sum + size, 0)
        },
      })
    } finally {
      await use.close()
    }
  })
}

function disk(diskBytes: number | undefined): KeyLimits {
  return { conversations: undefined, runs: undefined, diskBytes }
}

function entryOf(id: string, madeBy: string | undefined, updatedAt: string): ListEntry {
  return {
    id, madeBy, updatedAt, createdAt: '1', status: 'idle', parentId: null, workingDir: '/', tags: {}, createdBy: null,
  }
}

test('the conversations of a key count for this key, and for no other', () => withUse(async (world) => {
  const { put, measured, use, bytesOf } = world
  put('a', 'ci', 40 * KiB)
  put('b', 'ci', 8 * KiB)
  put('c', 'other', 20 * KiB)
  put('d', undefined, 20 * KiB)
  put('e', 'free', 20 * KiB)
  assert.is(await measured('ci'), await bytesOf('a', 'b'))
  assert.ok(use.bytesOf('ci') >= 48 * KiB)
  assert.is(use.bytesOf('other'), await bytesOf('c'))
  assert.is(use.bytesOf('free'), 0, 'a key without this limit is not measured')
}))

test('a closed conversation is read again only when it has changed', () => withUse(async (world) => {
  const { put, write, measured, bytesOf } = world
  put('a', 'ci', 40 * KiB)
  const before = await measured('ci')
  write('a', 80 * KiB)
  assert.is(await measured('ci'), before, 'the list shows no change, so the folder is not read')
  put('a', 'ci', 80 * KiB)
  assert.is(await measured('ci'), await bytesOf('a'), 'a line that does not set the time of change')
}))

test('an open conversation is read each time, and once more when it is closed', () => withUse(async (world) => {
  const { put, write, measured, open, bytesOf } = world
  put('a', 'ci', 40 * KiB)
  open.add('a')
  await measured('ci')
  write('a', 160 * KiB)
  assert.is(await measured('ci'), await bytesOf('a'), 'it is open')
  open.delete('a')
  write('a', 4 * KiB)
  const after = await measured('ci')
  assert.is(after, await bytesOf('a'), 'it was closed')
  write('a', 160 * KiB)
  assert.is(await measured('ci'), after, 'it is closed')
}))

test('a removed conversation counts no more', () => withUse(async ({ put, measured, entries, bytesOf }) => {
  put('a', 'ci', 40 * KiB)
  put('b', 'ci', 8 * KiB)
  await measured('ci')
  entries.delete('a')
  assert.is(await measured('ci'), await bytesOf('b'))
}))

test('each question begins a measurement, also for a key that was not measured', () => withUse(async (world) => {
  const { put, limits, use, time, bytesOf } = world
  put('a', 'late', 40 * KiB)
  limits.set('late', disk(1))
  assert.is(use.bytesOf('late'), 0)
  await use.idle()
  assert.is(use.bytesOf('late'), await bytesOf('a'))
  put('b', 'late', 8 * KiB)
  time.now += 1000
  use.bytesOf('late')
  await use.idle()
  assert.is(use.bytesOf('late'), await bytesOf('a', 'b'))
}))

test('it is measured every five seconds, and not again within a second', () => withUse(async (world) => {
  const { put, measured, use, bytesOf } = world
  put('a', 'ci', 8 * KiB)
  const before = await measured('ci')
  put('a', 'ci', 80 * KiB, '2')
  use.refresh()
  await use.idle()
  assert.is(use.bytesOf('ci'), before, 'a second has not passed')
  mock.timers.tick(5000)
  await use.idle()
  assert.is(use.bytesOf('ci'), await bytesOf('a'))
}))

test('a request that may begin a run is asked once, also when its key reaches the limit meanwhile', () => {
  let used = 0
  const namedKeys = new NamedKeys()
  namedKeys.source = { find: () => undefined, byId: () => undefined, limitsOf: () => disk(1), list: () => [] }
  const limits = new Limits({
    limits: { conversations: 0, runs: 0, diskBytes: 0 }, namedKeys, listed: { entries: () => [] },
    conversations: { running: () => [] }, disk: { bytes: 0, refresh: () => undefined }, keyUse: { bytesOf: () => used },
  })
  const release = limits.starting('a', 'ci')
  used = 1
  limits.creating('a', 'ci')()
  limits.assertSpace('ci', 'a')
  limits.starting('a', 'ci')()
  const isFull = (thrown: Error): boolean => thrown instanceof AppError && thrown.code === 'storage_full'
  assert.throws(() => limits.assertSpace('ci', 'b'), isFull)
  assert.throws(() => limits.assertSpace('ci'), isFull)
  release()
  assert.throws(() => limits.assertSpace('ci', 'a'), isFull)
})

test('after close nothing is measured', () => withUse(async ({ put, measured, use }) => {
  put('a', 'ci', 8 * KiB)
  await use.close()
  await use.close()
  mock.timers.tick(5000)
  assert.is(await measured('ci'), 0)
}))

test.run()
