/** Crashes of a log at every operation that changes a file, on a simulated disk. */
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import {
  allEvents, allLines, assertSameLines, below, codeOfFailure, eventMaker, openTestLog, privateRecord, seeded,
} from './samples.ts'
import { SimulatedDisk, type Fault } from './simulated-disk.ts'

const test = suite('storage/crash')
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

interface Written {
  /** All lines in the order of append, and how many of them were acknowledged. */
  readonly lines: string[]
  acknowledged: number
}

/** Appends groups of lines until it is done or an operation fails. */
async function write(
  disk: SimulatedDisk, written: Written, groups: number, make: (length?: number) => string,
): Promise<void> {
  const random = seeded(groups)
  const { log } = await openTestLog('/c', { files: disk })
  try {
    for (let group = 0; group < groups; group++) {
      for (let line = below(random, 4); line >= 0; line--) {
        const json = below(random, 4) === 0 ? privateRecord(group) : make(below(random, 300))
        log.append(json)
        written.lines.push(json)
      }
      const count = written.lines.length
      // Some groups are appended while the previous group is being written.
      if (below(random, 3) > 0) await log.durable().then(() => (written.acknowledged = count))
    }
    await log.durable()
    written.acknowledged = written.lines.length
  } finally {
    await log.close()
  }
}

/** Opens the log that a crash left and checks that it holds the acknowledged lines and perhaps the next few. */
async function check(disk: SimulatedDisk, written: Written, label: string): Promise<void> {
  const { log, damages } = await openTestLog('/c', { files: disk })
  const lines = await allLines(log)
  assert.ok(
    lines.length >= written.acknowledged, `${label}: lost ${written.acknowledged - lines.length} acknowledged lines`,
  )
  assertSameLines(lines, written.lines.slice(0, lines.length), label)
  assertSameLines(await allEvents(log), lines.filter((line) => line.startsWith('{"kind"')), label)
  assert.equal(damages.filter(({ kind }) => kind === 'damaged'), [], label)
  await log.close()
  written.lines.length = lines.length
  written.acknowledged = lines.length
}

test('keeps every acknowledged line and a prefix of the rest when power is lost at any operation', async () => {
  for (let round = 0, done = false; !done; round++) {
    for (const repeat of [0, 1, 2]) {
      const disk = new SimulatedDisk(seeded(seed + round * 3 + repeat))
      done = await interrupt(disk, round, () => disk.losePower(), `seed ${seed} round ${round}.${repeat}`)
    }
  }
})

test('keeps every acknowledged line and a prefix of the rest when the process dies at any operation', async () => {
  for (let round = 0, done = false; !done; round++) {
    const disk = new SimulatedDisk(seeded(seed + round))
    done = await interrupt(disk, round, () => disk.restart(), `seed ${seed} round ${round}`)
  }
})

/**
 * Ends a run at an operation, and checks the log that is left, also after going on. True when the run had fewer
 * operations.
 */
async function interrupt(disk: SimulatedDisk, round: number, restart: () => void, label: string): Promise<boolean> {
  const make = eventMaker(seed + round)
  const written: Written = { lines: [], acknowledged: 0 }
  await write(disk, written, 5, make)
  const before = disk.operations
  disk.failAfter(round + 1, 'power')
  await write(disk, written, 20, make).catch(() => undefined)
  const done = disk.operations - before <= round
  restart()
  await check(disk, written, label)
  // Events that were served once must not go away, even if they had not been on the disk.
  disk.losePower()
  await check(disk, written, `${label} after power was lost`)
  await write(disk, written, 3, make)
  await check(disk, written, `${label} after more`)
  return done
}

test('keeps every acknowledged line when recovery is interrupted at any operation too', async () => {
  const random = seeded(seed)
  for (let round = 0; round < 60; round++) {
    const disk = new SimulatedDisk(seeded(seed + round))
    const make = eventMaker(seed + round)
    const written: Written = { lines: [], acknowledged: 0 }
    disk.failAfter(10 + below(random, 30), 'power')
    await write(disk, written, 20, make).catch(() => undefined)
    for (let again = 1; again <= 4; again++) {
      disk.losePower()
      disk.failAfter(again, 'power')
      await openTestLog('/c', { files: disk }).then(({ log }) => log.close()).catch(() => undefined)
    }
    disk.losePower()
    await check(disk, written, `seed ${seed} round ${round}`)
  }
})

const faults: readonly [Fault, string][] = [
  ['EIO', 'storage_failed'],
  ['ENOSPC', 'storage_full'],
]
for (const [fault, code] of faults) {
  test(
    `refuses to append after ${fault} at any operation, goes on reading, and appends again once reopened`,
    async () => {
      for (let round = 0; round < 12; round++) {
        const label = `seed ${seed} round ${round}`
        const disk = new SimulatedDisk(seeded(seed + round))
        const make = eventMaker(seed + round)
        const { log } = await openTestLog('/c', { files: disk })
        const lines = [make(), make()]
        for (const line of lines) log.append(line)
        await log.durable()
        disk.failAfter(round + 1, fault, 1000)
        const kept = [...lines]
        for (let step = 0; step < 8 && log.failure === undefined; step++) {
          const line = make(200)
          log.append(line)
          await log.durable().then(() => kept.push(line), () => undefined)
        }
        assert.is(log.failure?.code, code, label)
        assert.is(await codeOfFailure(log.durable()), code, label)
        assert.throws(() => log.append(make()), /Cannot write to the log/, label)
        assertSameLines(await allEvents(log), kept, label)
        assert.is(await codeOfFailure(log.reopen()), code, label)
        disk.heal()
        await log.reopen()
        const closing = make()
        log.append(closing)
        await log.durable()
        assertSameLines(await allEvents(log), [...kept, closing], label)
        await log.close()
        const again = await openTestLog('/c', { files: disk })
        assertSameLines(await allEvents(again.log), [...kept, closing], label)
        assert.equal(again.damages, [], label)
        await again.log.close()
      }
    },
  )
}

test('keeps a copy of whole lines that it cuts behind a hole', async () => {
  const disk = new SimulatedDisk(seeded(seed))
  const make = eventMaker()
  const { log } = await openTestLog('/c', { files: disk })
  for (let number = 0; number < 5; number++) log.append(make())
  await log.durable()
  const hole = log.offsetOf(2)
  await log.close()
  const path = join('/c', 'events.jsonl')
  const content = disk.content(path).fill(0, hole + 10, hole + 40)
  const lost = Buffer.from(content.subarray(hole))
  disk.remove(join('/c', 'events.index'))
  const again = await openTestLog('/c', { files: disk })
  assert.is(again.log.eventCount, 2)
  assert.equal(again.damages, [{ offset: hole, length: lost.length, event: undefined, kind: 'cut' }])
  assert.equal(disk.content(join('/c', `events.cut-${hole}`)), lost)
  assert.is(disk.content(path).length, hole)
  await again.log.close()
})

test('takes a single zero byte for a hole where a line begins, and for damage elsewhere', async () => {
  for (const [at, count, kind] of [[0, 3, 'cut'], [40, 4, 'damaged']] as const) {
    const disk = new SimulatedDisk(seeded(seed))
    const make = eventMaker()
    const { log } = await openTestLog('/c', { files: disk })
    for (let number = 0; number < 5; number++) log.append(make())
    await log.close()
    disk.content(join('/c', 'events.jsonl'))[log.offsetOf(3) + at] = 0
    disk.remove(join('/c', 'events.index'))
    const again = await openTestLog('/c', { files: disk })
    assert.is(again.log.eventCount, count)
    assert.is(again.damages[0]?.kind, kind)
    await again.log.close()
  }
})

test.run()
