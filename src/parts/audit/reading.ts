/** Reads the audit trail and checks its chain of hashes. Changes nothing. */
import { hashAt, hashOf, headLength, lineFeed } from '../../storage/chain.ts'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { contentOf, numbersIn } from './trail-files.ts'

export interface TrailLine {
  readonly json: Buffer
  readonly hash: string
  /** The file, and the number of the line in the file, from 1. */
  readonly place: string
  /** Why the line does not continue the chain of hashes; undefined for a line that does. */
  readonly problem: string | undefined
}

/** The number of lines that are checked in one turn of the event loop. */
const linesPerTurn = 500

/**
 * Yields the lines of the trail, the oldest first. Leaves out an incomplete last line, because a server may be writing
 * it. If file 1 is missing, the first line is not checked, because the hash of the line before is not known.
 * @throws AppError `storage_failed`
 */
export async function* readTrail(dataDir: string): AsyncGenerator<TrailLine, void> {
  const numbers = await numbersIn(dataDir)
  let previous = numbers[0] === 1 ? '0'.repeat(32) : undefined
  let expected = numbers[0]
  for (const number of numbers) {
    const isGap = number !== expected
    expected = number + 1
    let count = 0
    for (const bytes of linesOf(await contentOf(dataDir, number))) {
      if (++count % linesPerTurn === 0) await endOfTurn()
      const hash = hashAt(bytes, 0)
      const json = bytes.subarray(headLength)
      const isNext = hash !== undefined && (previous === undefined || hashOf(previous, json) === hash)
      const missing = isGap && count === 1 ? ': the file before it is missing' : ''
      const problem = isNext ? undefined : `the line does not continue the chain${missing}`
      previous = hash ?? previous
      yield { json, hash: hash ?? '', place: `audit/${String(number).padStart(6, '0')}.jsonl, line ${count}`, problem }
    }
  }
}

/** Finds up to `problemLimit` problems. `sound` is undefined for an empty trail. @throws AppError `storage_failed` */
export async function inspectTrail(
  dataDir: string,
): Promise<{ readonly problems: readonly string[], readonly sound: string | undefined }> {
  const problems: string[] = []
  let [records, head] = [0, '']
  for await (const { place, problem, hash } of readTrail(dataDir)) {
    records++
    head = hash
    if (problem !== undefined) problems.push(`${place}: ${problem}`)
    if (problems.length === problemLimit) break
  }
  const isSound = records > 0 && problems.length === 0
  return { problems, sound: isSound ? `audit trail  sound: ${records} records, head ${head}` : undefined }
}

const problemLimit = 20

/** Yields the complete lines without their line feeds. */
export function* linesOf(content: Buffer): Generator<Buffer, void> {
  for (let start = 0; ;) {
    const end = content.indexOf(lineFeed, start)
    if (end === -1) return
    yield content.subarray(start, end)
    start = end + 1
  }
}
