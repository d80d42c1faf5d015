/** Damaged logs: flipped bits cost one line, and no content stops a log from being opened. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { genesis } from '../../src/storage/chain.ts'
import { maxDamages } from '../../src/storage/recovery.ts'
import { suite } from '../support/suite.ts'
import { checkFlip, sampleLog } from './flips.ts'
import { allEvents, allLines, assertSameLines, below, eventMaker, openTestLog, seeded } from './samples.ts'
import { SimulatedDisk } from './simulated-disk.ts'

const test = suite('storage/damage')
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

test('loses one line at most to a flipped bit at any byte, and reports it', async () => {
  const random = seeded(seed)
  const sample = await sampleLog(8, 30)
  for (let byte = 0; byte < sample.log.length; byte++) {
    await checkFlip(sample, byte * 8 + below(random, 8), byte % 2 === 0)
  }
})

test('finds a flipped bit that opening did not come across when the event is read', async () => {
  const random = seeded(seed)
  const sample = await sampleLog(600, 300)
  for (let round = 0; round < 20; round++) {
    await checkFlip(sample, below(random, (sample.log.length - 70 * 1024) * 8), true)
  }
})

test('serves every other event when one is damaged, and says which it was, once', async () => {
  const sample = await sampleLog(600, 300)
  const disk = new SimulatedDisk(seeded(seed))
  disk.replace('/c/events.jsonl', sample.log)
  disk.replace('/c/events.index', sample.index)
  const { log, damages } = await openTestLog('/c', { files: disk })
  const offset = log.offsetOf(77)
  const content = disk.content('/c/events.jsonl')
  content[offset + 200] = (content[offset + 200] ?? 0) ^ 1
  const events = sample.lines.filter((line) => line.startsWith('{"kind"'))
  for (let turn = 0; turn < 2; turn++) {
    for (const number of [75, 76, 78, 79]) assert.is((await log.read(number))?.toString(), events[number])
    assert.is(await log.read(77), undefined)
    assertSameLines(await allEvents(log, 20_000), events.filter((_, number) => number !== 77))
  }
  const length = Buffer.byteLength(events[77] ?? '') + 34
  assert.equal(damages, [{ offset, length, event: 77, kind: 'damaged' }])
  await log.close()
})

test('checks a line when it is first read, and again when the log was opened anew', async () => {
  const sample = await sampleLog(600, 300)
  const disk = new SimulatedDisk(seeded(seed))
  disk.replace('/c/events.jsonl', sample.log)
  disk.replace('/c/events.index', sample.index)
  const events = sample.lines.filter((line) => line.startsWith('{"kind"'))
  const { log, damages } = await openTestLog('/c', { files: disk })
  for (let turn = 0; turn < 2; turn++) {
    assertSameLines(await allEvents(log, 20_000), events)
    assertSameLines(await allEvents(log, 1), events)
  }
  const offset = log.offsetOf(77)
  const content = disk.content('/c/events.jsonl')
  content[offset + 200] = (content[offset + 200] ?? 0) ^ 1
  assert.is((await log.read(77))?.length, Buffer.byteLength(events[77] ?? ''))
  assert.equal(damages, [])
  await log.close()
  const again = await openTestLog('/c', { files: disk })
  assert.is(await again.log.read(77), undefined)
  assert.equal(again.damages.map(({ event }) => event), [77])
  await again.log.close()
})

test('reports the cut of an unfinished line after more damaged lines than are reported', async () => {
  const disk = new SimulatedDisk(seeded(seed))
  disk.replace('/c/events.jsonl', Buffer.from(`${`${genesis} {"no":"event"}\n`.repeat(maxDamages + 1)}torn`))
  const { log, damages } = await openTestLog('/c', { files: disk })
  assert.equal([damages.length, damages.at(-1)?.kind], [maxDamages + 1, 'cut'])
  await log.close()
})

test('goes on from a damaged last line', async () => {
  const sample = await sampleLog(5, 30)
  const disk = new SimulatedDisk(seeded(seed))
  for (const at of [2, 100]) {
    const content = Buffer.from(sample.log)
    const offset = content.lastIndexOf('\n', -2) + 1
    content[offset + at] = 0x7a
    disk.replace('/c/events.jsonl', content)
    disk.replace('/c/events.index', sample.index)
    const { log, damages } = await openTestLog('/c', { files: disk })
    const added = eventMaker(2, 1_895_253_400_000)()
    log.append(added)
    await log.durable()
    const expected = [...sample.lines.slice(0, -1), added]
    assertSameLines(await allLines(log), expected)
    assert.equal(damages.map(({ kind }) => kind), ['damaged'])
    await log.close()
    const again = await openTestLog('/c', { files: disk })
    assertSameLines(await allLines(again.log), expected)
    await again.log.close()
  }
})

test('loses what a run of other bytes covers and one line more', async () => {
  const random = seeded(seed)
  const sample = await sampleLog(40, 60)
  for (let round = 0; round < 60; round++) {
    const disk = new SimulatedDisk(seeded(seed + round))
    const content = Buffer.from(sample.log)
    const from = below(random, content.length - 1000)
    const length = below(random, 500)
    for (let at = from; at < from + length; at++) content[at] = 1 + below(random, 255)
    disk.replace('/c/events.jsonl', content)
    if (round % 2 === 0) disk.replace('/c/events.index', sample.index)
    const { log } = await openTestLog('/c', { files: disk })
    const kept = await allLines(log)
    const first = content.subarray(0, from).toString('latin1').split('\n').length - 1
    const last = sample.log.subarray(0, from + length).toString('latin1').split('\n').length - 1
    const untouched = sample.lines.filter((_, line) => line < first || line > last + 1)
    assert.equal(untouched.filter((line) => !kept.includes(line)), [], `seed ${seed} round ${round}`)
    assertSameLines(
      await allEvents(log), kept.filter((line) => line.startsWith('{"kind"')), `seed ${seed} round ${round}`,
    )
    await log.close()
  }
})

test('rebuilds an index that is missing, cut, empty, damaged, of another log or longer than the log', async () => {
  const sample = await sampleLog(300, 100)
  const other = await sampleLog(290, 110)
  const flipped = Buffer.from(sample.index)
  flipped[16 * 100 + 3] = (flipped[16 * 100 + 3] ?? 0) ^ 4
  const zeros = Buffer.from(sample.index).fill(0, 16 * 50, 16 * 60)
  const longer = Buffer.concat([sample.index, (await sampleLog(400, 100)).index.subarray(sample.index.length)])
  const cut = sample.index.subarray(0, 16 * 77 + 5)
  for (const index of [undefined, cut, Buffer.alloc(0), flipped, zeros, other.index, longer]) {
    const disk = new SimulatedDisk(seeded(seed))
    disk.replace('/c/events.jsonl', sample.log)
    if (index !== undefined) disk.replace('/c/events.index', index)
    const { log, damages } = await openTestLog('/c', { files: disk })
    assertSameLines(await allLines(log), sample.lines)
    assertSameLines(await allEvents(log), sample.lines.filter((line) => line.startsWith('{"kind"')))
    assert.equal(damages, [])
    await log.close()
    assert.equal(disk.content('/c/events.index'), sample.index)
  }
})

test('reads no history when the index is fine', async () => {
  const sample = await sampleLog(2000, 300)
  const disk = new SimulatedDisk(seeded(seed))
  disk.replace('/c/events.jsonl', sample.log)
  disk.replace('/c/events.index', sample.index)
  let read = 0
  const counting = {
    open: async (path: string) => {
      const file = await disk.open(path)
      const counted = (length: number, position: number): Promise<Buffer> => {
        if (path.endsWith('jsonl')) read += length
        return file.read(length, position)
      }
      return { ...file, read: counted }
    },
  }
  const { log } = await openTestLog('/c', { files: counting })
  assert.is(log.eventCount, 2000)
  assert.ok(read < 70 * 1024, `${read} bytes`)
  await log.read(1000)
  assert.ok(read < 80 * 1024, `${read} bytes`)
  await log.close()
})

test('opens whatever is in the files, and the same way again', async () => {
  const sample = await sampleLog(30, 60)
  for (let round = 0; round < 300; round++) {
    const label = `seed ${seed} round ${round}`
    const random = seeded(seed + round)
    const disk = new SimulatedDisk(random)
    disk.replace('/c/events.jsonl', garble(sample.log, random))
    if (random() < 0.7) disk.replace('/c/events.index', garble(sample.index, random))
    const { log } = await openTestLog('/c', { files: disk, lineLimitBytes: 4096 })
    const events = await allEvents(log)
    const lines = await allLines(log)
    assertSameLines(events, lines.filter((line) => events.includes(line)), label)
    log.append(eventMaker(2, 1_895_253_400_000)())
    await log.durable()
    const expected = await allLines(log)
    await log.close()
    const again = await openTestLog('/c', { files: disk, lineLimitBytes: 4096 })
    assertSameLines(await allLines(again.log), expected, label)
    assert.equal(again.damages.filter(({ kind }) => kind === 'cut'), [], label)
    await again.log.close()
  }
})

/** Some of the good bytes, in another order, with garbage between them. */
function garble(good: Buffer, random: () => number): Buffer {
  const parts: Buffer[] = []
  for (let count = below(random, 6); count >= 0; count--) {
    const from = below(random, good.length)
    const length = below(random, 3000)
    const kind = below(random, 5)
    if (kind === 0) parts.push(Buffer.alloc(length))
    else if (kind === 1) parts.push(Buffer.from(Array.from({ length }, () => below(random, 256))))
    else if (kind === 2) parts.push(Buffer.from(Array.from({ length }, () => '\n 0af{["'.charCodeAt(below(random, 8)))))
    else parts.push(good.subarray(kind === 3 ? 0 : from, from + length))
  }
  return Buffer.concat(parts)
}

test('gives up on a line without end, in bounded memory, and finds the next one', async () => {
  const sample = await sampleLog(6, 40)
  const disk = new SimulatedDisk(seeded(seed))
  const half = sample.log.indexOf('\n', sample.log.length / 2) + 1
  const noise = Buffer.alloc(2_000_000, 'x')
  noise[noise.length - 1] = 0x0a
  disk.replace(
    join('/c', 'events.jsonl'), Buffer.concat([sample.log.subarray(0, half), noise, sample.log.subarray(half)]),
  )
  const { log, damages } = await openTestLog('/c', { files: disk, lineLimitBytes: 10_000 })
  const kept = await allLines(log)
  assertSameLines(kept, sample.lines.filter((line) => kept.includes(line)))
  assert.ok(kept.length >= sample.lines.length - 1)
  assert.ok(damages.length > 0)
  await log.close()
})

test.run()
