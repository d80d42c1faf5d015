/** The damage that a flipped bit may do to a log, for tests that flip some bits and tests that flip all of them. */
import * as assert from 'uvu/assert'
import { allEvents, allLines, assertSameLines, eventMaker, openTestLog, privateRecord, seeded } from './samples.ts'
import { SimulatedDisk } from './simulated-disk.ts'

export interface SampleLog {
  readonly lines: readonly string[]
  readonly log: Buffer
  readonly index: Buffer
}

/** A log of events of about this length, with a private record after every third. */
export async function sampleLog(events: number, length: number): Promise<SampleLog> {
  const disk = new SimulatedDisk(seeded(1))
  const make = eventMaker()
  const lines: string[] = []
  const { log } = await openTestLog('/c', { files: disk })
  for (let number = 0; number < events; number++) {
    lines.push(make(length))
    if (number % 3 === 2) lines.push(privateRecord(number))
  }
  for (const line of lines) log.append(line)
  await log.close()
  return {
    lines, log: Buffer.from(disk.content('/c/events.jsonl')), index: Buffer.from(disk.content('/c/events.index')),
  }
}

/**
 * Flips one bit of the log and checks that one line at most is lost, that this is reported, and that the log can be
 * used.
 */
export async function checkFlip(sample: SampleLog, bit: number, withIndex: boolean): Promise<void> {
  const label = `bit ${bit} ${withIndex ? 'with' : 'without'} index`
  const disk = new SimulatedDisk(seeded(bit))
  const content = Buffer.from(sample.log)
  content[bit >> 3] = (content[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  disk.replace('/c/events.jsonl', content)
  if (withIndex) disk.replace('/c/events.index', sample.index)
  const { log, damages } = await openTestLog('/c', { files: disk })
  const kept = await allLines(log)
  const events = await allEvents(log)
  assert.ok(isWithoutOne(kept, sample.lines), `${label}: ${kept.length} of ${sample.lines.length} lines are left`)
  assertSameLines(events, kept.filter((line) => line.startsWith('{"kind"')), label)
  assert.ok(kept.length === sample.lines.length || damages.length > 0, `${label}: not reported`)
  await log.close()
  const again = await openTestLog('/c', { files: disk })
  const added = eventMaker(2, 1_895_253_400_000)()
  again.log.append(added)
  await again.log.durable()
  assertSameLines(await allLines(again.log), [...kept, added], label)
  await again.log.close()
}

function isWithoutOne(kept: readonly string[], all: readonly string[]): boolean {
  if (kept.length < all.length - 1) return false
  const lost = all.findIndex((line, at) => line !== kept[at])
  return kept.every((line, at) => line === all[at < lost || lost === -1 ? at : at + 1])
}
