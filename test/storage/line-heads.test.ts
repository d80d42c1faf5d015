/** Logs that are opened without an index: the same index as before, made in one quick reading, with any damage. */
import * as assert from 'uvu/assert'
import { eventKinds } from '../../src/schema/generated/events.ts'
import { start } from '../../src/storage/chain.ts'
import { EventIndex } from '../../src/storage/event-index.ts'
import { indexLines } from '../../src/storage/line-heads.ts'
import type { Files } from '../../src/storage/files.ts'
import { suite } from '../support/suite.ts'
import { checkFlip, sampleLog, type SampleLog } from './flips.ts'
import { allEvents, assertSameLines, below, kinds, openTestLog, seeded } from './samples.ts'
import { SimulatedDisk } from './simulated-disk.ts'

const test = suite('storage/line-heads')
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

/** Longer than the part at the end of a log that is read with the chain: the first third is not read so. */
const manyEvents = 1000
const eventBytes = 3000

let longSample: SampleLog | undefined
async function long(): Promise<SampleLog> {
  longSample ??= await sampleLog(manyEvents, eventBytes)
  return longSample
}

/** The index of these bytes alone, and how many were read. */
async function indexOf(
  log: Buffer, to = log.length, names: readonly string[] = kinds,
): Promise<{ index: EventIndex; read: number }> {
  const index = new EventIndex()
  let read = 0
  const file = {
    size: async () => log.length,
    read: async (length: number, position: number) => {
      read += length
      return Buffer.from(log.subarray(position, position + length))
    },
    close: async () => undefined,
  }
  await indexLines({ log: file, index, kinds: names, to })
  return { index, read }
}

test('makes the same records as appending did, but for the last one, which is left to the chain', async () => {
  const { log, index } = await long()
  const made = await indexOf(log)
  assert.is(made.index.count, manyEvents - 1)
  assert.equal(made.index.bytes(0, manyEvents - 1), index.subarray(0, 16 * (manyEvents - 1)))
  assert.is(made.read, log.length)
})

test('finds lines that are longer than a chunk, and those around them', async () => {
  const { log, index } = await sampleLog(6, 1_500_000)
  const made = await indexOf(log)
  assert.equal(made.index.bytes(0, made.index.count), index.subarray(0, 16 * 5))
})

test('finds no event in an empty log, and leaves out a line that is not finished', async () => {
  const { log } = await sampleLog(3, 100)
  assert.is((await indexOf(Buffer.alloc(0))).index.count, 0)
  assert.is((await indexOf(log, log.length - 1)).index.count, (await indexOf(log)).index.count)
  assert.is((await indexOf(log.subarray(0, 150))).index.count, 0)
})

test('stops at a line that this server did not write', async () => {
  const { log, lines } = await sampleLog(9, 100)
  const fifth = lines.filter((line) => line.startsWith('{')).at(4) ?? ''
  const at = log.indexOf(fifth)
  const bad: readonly (readonly [place: number, byte: string])[] = [
    [-1, '_'], // the space behind the hash
    [0, '<'], // the brace
    [12, 'ß'], // the kind
    [fifth.indexOf('"id":"') + 7, 'g'], // a digit of the id
    [fifth.indexOf('"id":"') + 6, 'f'], // an id far behind the next one
    [fifth.indexOf('"timestamp"') + 1, 'x'],
  ]
  for (const [place, byte] of bad) {
    const content = Buffer.from(log)
    content.write(byte, at + place, 'latin1')
    const { count } = (await indexOf(content)).index
    assert.ok(count === 3 || count === 4, `${place}: ${count} events`)
  }
})

test('looks at every byte from the kind to the name of the timestamp, but for the lower half of the id', async () => {
  const { log, lines } = await sampleLog(9, 100)
  const fifth = lines.filter((line) => line.startsWith('{')).at(4) ?? ''
  const at = log.indexOf(fifth)
  const id = fifth.indexOf('"id":"') + 6
  const timestamp = fifth.indexOf('"timestamp":"') + 13
  for (let place = 9; place < timestamp; place++) {
    if (place >= id + 18 && place < id + 36) continue
    const content = Buffer.from(log)
    content.write('~', at + place, 'latin1')
    const { count } = (await indexOf(content)).index
    // The dashes of the id say nothing.
    if (fifth[place] !== '-') assert.ok(count === 3 || count === 4, `${place}: ${count} events`)
  }
})

test('takes no event from the beginning of one, however it is cut', async () => {
  const { log } = await sampleLog(2, 100)
  const second = log.indexOf('\n') + 1
  const timestamp = log.indexOf('"timestamp":"', second) + 13
  for (let end = second; end < timestamp; end++) {
    const cut = Buffer.concat([log.subarray(0, end), Buffer.from('\n')])
    assert.is((await indexOf(cut)).index.count, 0, `${end - second} bytes`)
  }
  assert.is((await indexOf(log)).index.count, 1)
})

test('knows every kind of event', async () => {
  const { log } = await sampleLog(4, 100)
  for (const kind of eventKinds) {
    const other = Buffer.from(log.toString('latin1').replaceAll('"MessageEvent"', `"${kind}"`), 'latin1')
    assert.is((await indexOf(other, other.length, eventKinds)).index.count, 3)
  }
})

test('knows every source, and that there is none', async () => {
  const { log } = await sampleLog(4, 100)
  const text = log.toString('latin1')
  const marks = await Promise.all(
    ['"source":"agent"', '"source":"user"', '"source":"environment"', '"other":"agent"'].map(async (member) => {
      const { index } = await indexOf(Buffer.from(text.replaceAll(/"source":"\w+"/g, member), 'latin1'))
      return index.markOf(1) & 3
    }),
  )
  assert.equal(marks, [0, 1, 2, 3])
})

test('reads a log without an index once, and writes the index that it had', async () => {
  const sample = await long()
  const disk = new SimulatedDisk(seeded(seed))
  disk.replace('/c/events.jsonl', sample.log)
  let read = 0
  const counting: Files = {
    open: async (path, options) => {
      const file = await disk.open(path, options)
      return {
        ...file,
        read: (length, position) => {
          read += length
          return file.read(length, position)
        },
      }
    },
  }
  const { log, damages } = await openTestLog('/c', { files: counting })
  assert.ok(read < sample.log.length + 64 * 1024, `${read} bytes of ${sample.log.length}`)
  assertSameLines(await allEvents(log), sample.lines.filter((line) => line.startsWith('{')))
  assert.ok(await log.holds(start))
  assert.equal(damages, [])
  await log.close()
  assert.equal(disk.content('/c/events.index'), sample.index)
})

test('loses one line at most to a flipped bit where the chain was not followed, and reports it', async () => {
  const random = seeded(seed)
  const sample = await long()
  const quick = sample.log.length - 2.2 * 1024 * 1024
  for (let round = 0; round < 8; round++) {
    const line = sample.log.indexOf('\n', below(random, quick))
    // The separator, something of the next line's beginning, or anything.
    const byte = [line, line + 1 + below(random, 34), line + below(random, 200), below(random, quick)][round % 4] ?? 0
    await checkFlip(sample, byte * 8 + below(random, 8), false)
  }
})

test('follows the chain from the beginning when a separator is damaged where both ways meet', async () => {
  const sample = await long()
  let line = sample.log.length - 2 * 1024 * 1024
  for (let number = 0; number < 5; number++) {
    line = sample.log.lastIndexOf('\n', line - 1)
    await checkFlip(sample, line * 8 + 3, false)
  }
})

test.run()
