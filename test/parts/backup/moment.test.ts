/** Settings of one moment: files are replaced while a backup reads them. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { writeFileAtomically } from '../../../src/base/own-files.ts'
import { readMoment, type Moment } from '../../../src/parts/backup/moment.ts'
import { inFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { refusal } from './commands.ts'

const test = suite('parts/backup/moment')
const { signal } = new AbortController()

/** Two files with the content `1`, the second of them in a folder. */
function inPair(body: (dataDir: string) => Promise<void>): () => Promise<void> {
  return () => inFolder(async (dataDir) => {
    mkdirSync(join(dataDir, 'keys'))
    for (const path of ['a.json', 'keys/b.json']) writeFileSync(join(dataDir, path), '1')
    await body(dataDir)
  })
}

function texts({ contents }: Moment): Record<string, string> {
  return Object.fromEntries([...contents].map(([path, content]) => [path, content.toString()]))
}

/** Reads files, and calls `change` after the first of them was read. */
function changing(change: () => Promise<unknown>): (path: string) => Promise<Buffer> {
  let isChanged = false
  return async (path) => {
    const content = await readFile(path)
    if (!isChanged) await change()
    isChanged = true
    return content
  }
}

const list = async (): Promise<readonly string[]> => ['a.json', 'keys']

test('names a file that may not be read', inPair(async (dataDir) => {
  const read = async (): Promise<Buffer> => { throw Object.assign(new Error('no'), { code: 'EACCES' }) }
  const said = await refusal(readMoment({ dataDir, list, signal, read }))
  assert.is(said, 'storage_failed: Cannot back up "a.json": EACCES')
}))

test('reads everything again when a file was replaced meanwhile', inPair(async (dataDir) => {
  const read = changing(async () => {
    await writeFileAtomically(join(dataDir, 'a.json'), '2')
    await writeFileAtomically(join(dataDir, 'keys', 'b.json'), '2')
  })
  assert.equal(texts(await readMoment({ dataDir, list, signal, read })), { 'a.json': '2', 'keys/b.json': '2' })
}))

test('reads everything again when a file was added or removed meanwhile', inPair(async (dataDir) => {
  const read = changing(async () => {
    rmSync(join(dataDir, 'a.json'))
    await writeFileAtomically(join(dataDir, 'keys', 'c.json'), '2')
  })
  assert.equal(texts(await readMoment({ dataDir, list, signal, read })), { 'keys/b.json': '1', 'keys/c.json': '2' })
}))

test('gives up when the files are replaced all the time, and stops when it is interrupted', inPair(async (dataDir) => {
  let count = 0
  const read = async (path: string): Promise<Buffer> => {
    await writeFileAtomically(join(dataDir, 'a.json'), String(++count))
    return readFile(path)
  }
  const said = await refusal(readMoment({ dataDir, list, signal, read, pauseMs: 0 }))
  assert.match(said, 'unavailable: Cannot back up: the settings were changed all the time')
  const ended = new AbortController()
  const reading = readMoment({ dataDir, list, signal: ended.signal, read, pauseMs: 60_000 })
  ended.abort(new RangeError('interrupted'))
  await reading.then(() => assert.unreachable(), (thrown: unknown) => assert.instance(thrown, RangeError))
}))

test('the contents belong together while a writer replaces file after file', () => inFolder(async (dataDir) => {
  const names = Array.from({ length: 12 }, (_, at) => `${String(at).padStart(2, '0')}.json`)
  const write = async (round: number): Promise<void> => {
    for (const name of names) await writeFileAtomically(join(dataDir, name), String(round))
  }
  await write(0)
  let isOver = false
  const writing = (async () => {
    for (let round = 1; !isOver; round++) {
      await write(round)
      if (round % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  try {
    for (let tries = 0; tries < 8; tries++) {
      const moment = await readMoment({ dataDir, list: async () => names, signal, pauseMs: 1 })
      const rounds = names.map((name) => Number(texts(moment)[name]))
      // A writer that goes through the files in order has written the first of them once more than the last ones.
      const [newest = 0] = rounds
      assert.equal(rounds, [...rounds].sort((a, b) => b - a))
      assert.ok(rounds.every((round) => newest - round <= 1), rounds.join())
    }
  } finally {
    isOver = true
    await writing
  }
  assert.is(readFileSync(join(dataDir, '11.json'), 'utf8'), readFileSync(join(dataDir, '00.json'), 'utf8'))
}))

test.run()
