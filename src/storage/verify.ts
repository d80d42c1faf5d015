/**
 * Checks a conversation's folder and changes nothing: every line, the order of the events, the index and the cached
 * state.
 *
 * A flipped bit in the log is found. An attacker who edits the log can also compute new hashes: only the option
 * `expect` reveals that. A check with issues is repeated if a file changed meanwhile.
 */
import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { AppError, messageOf, systemCodeOf } from '../base/errors.ts'
import { parseOwnJson } from '../base/json.ts'
import { storageError } from '../base/own-files.ts'
import { isThere, stat } from '../base/read-files.ts'
import { headLength, start, type Position } from './chain.ts'
import { EventIndex, recordBytes } from './event-index.ts'
import { openToRead } from './files.ts'
import { eventIdOf, isEvent, isPrivateRecord, labelOf } from './record.ts'
import { scan, type Piece } from './scan.ts'
import { readSoundState, type CachedState } from './state-file.ts'

export interface VerifyOptions {
  readonly directory: string
  readonly kinds: readonly string[]
  /** The `head.hash` of an earlier check. The log must still contain the line with this hash. */
  readonly expect?: string
  /** The longest JSON of a line. Default: 64 MiB. */
  readonly lineLimitBytes?: number
  /** Called with the JSON of each sound private record, in order. */
  readonly onRecord?: (json: Buffer) => void
  /**
   * Called before each check of the files. If a check finds issues and a file has changed meanwhile, the files are
   * checked again. At each call, the caller must forget the records that `onRecord` got from earlier checks.
   */
  readonly onStart?: () => void
}

export interface VerifyIssue {
  readonly file: 'events.jsonl' | 'events.index' | 'state.json'
  readonly offset: number
  /** Number of the line in the log, from 1 on. */
  readonly line?: number
  /** Seq of the event. */
  readonly event?: number
  /** Id of the event, if it can be read. */
  readonly id?: string
  readonly problem: string
}

export interface VerifyResult {
  /** True when there is no issue and `expected` is not false. */
  readonly sound: boolean
  readonly lines: number
  readonly events: number
  readonly head: Position
  /** True when the hash `expect` was found before any damage in the log; undefined without `expect`. */
  readonly expected: boolean | undefined
  /** The first 1,000 issues. */
  readonly issues: readonly VerifyIssue[]
}

const maxIssues = 1000
/** The most times that a folder is checked. A check that finds issues is repeated if a file has changed meanwhile. */
const maxLooks = 10
const defaultLineLimitBytes = 64 * 1024 * 1024

/** Checks the folder of a conversation. @throws AppError `not_found` without a log, `storage_failed` */
export async function verifyConversation(options: VerifyOptions): Promise<VerifyResult> {
  try {
    for (let look = 1; ; look++) {
      const before = await stampOf(options.directory)
      options.onStart?.()
      const result = await verify(options)
      if (result.sound || look === maxLooks || (await stampOf(options.directory)) === before) return result
    }
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOENT') throw storageError('Cannot verify the conversation', thrown)
    throw new AppError('not_found', 'There is no log in this folder', { cause: thrown })
  }
}

/** Returns a text that changes when the log, its index or the cached state changes. */
async function stampOf(directory: string): Promise<string> {
  const noFile = { ino: 0n, size: -1n, mtimeNs: 0n }
  const files = ['events.jsonl', 'events.index', 'state.json'].map(async (name) => {
    const { ino, size, mtimeNs } = await stat(join(directory, name), { bigint: true }).catch(() => noFile) // No file.
    return `${ino} ${size} ${mtimeNs}`
  })
  return (await Promise.all(files)).join()
}

type Report = (issue: VerifyIssue) => void

/** The results of the check for the lines that were read so far. */
interface Seen {
  lines: number
  events: number
  upper: string
  head: Position
  /** True while every line was sound and had its LF. */
  unbroken: boolean
  headFound: boolean
  stateFound: boolean
  /** The issue for an unfinished line at the end of the log; undefined if there is none. */
  torn: VerifyIssue | undefined
}

async function verify(options: VerifyOptions): Promise<VerifyResult> {
  const { directory, kinds, expect, lineLimitBytes = defaultLineLimitBytes } = options
  const issues: VerifyIssue[] = []
  const report: Report = (issue) => {
    if (issues.length < maxIssues) issues.push(issue)
  }
  const log = await openToRead(join(directory, 'events.jsonl'))
  try {
    const index = await readIndex(directory, report)
    const state = await readSoundState(directory)
    const found = { headFound: expect === start.hash, stateFound: false }
    const seen: Seen = { lines: 0, events: 0, upper: '', head: start, unbroken: true, torn: undefined, ...found }
    const to = await log.size()
    for await (const pieces of scan({ read: log.read, from: 0, to, previous: start.hash, lineLimitBytes })) {
      for (const piece of pieces) {
        if (isAt(state, seen.head)) seen.stateFound = true
        checkPiece(piece, { seen, index, kinds, report })
        if (piece.state === 'sound' && isPrivateRecord(piece.bytes)) options.onRecord?.(piece.bytes)
        if (seen.unbroken && seen.head.hash === expect) seen.headFound = true
      }
    }
    // If a server was writing the last line, the file is longer now, and there is no issue.
    if (seen.torn !== undefined && (await log.size()) === to) report(seen.torn)
    checkIndexEnd(index, seen.events, report)
    if (!(isAt(state, seen.head) || seen.stateFound)) await checkNoState(directory, report)
    const { lines, events, head } = seen
    const expected = expect === undefined ? undefined : seen.headFound
    return { sound: issues.length === 0 && expected !== false, lines, events, head, expected, issues }
  } finally {
    await log.close()
  }
}

interface PieceContext {
  readonly seen: Seen
  readonly index: EventIndex
  readonly kinds: readonly string[]
  readonly report: Report
}

function checkPiece(piece: Piece, { seen, index, kinds, report }: PieceContext): void {
  const { offset, state } = piece
  const line = ++seen.lines
  seen.unbroken &&= state === 'sound' && piece.closed
  const indexed = seen.events < index.count ? index.offsetOf(seen.events) : undefined
  const json = state === 'sound' ? piece.bytes : piece.bytes.subarray(headLength)
  // The index has a later event in place of this one: the line was damaged when a server made the index.
  const isMissing = state === 'sound' && indexed !== undefined && indexed > offset && isEvent(json)
  if (isMissing) report({ ...indexRecord(seen.events), problem: 'an event of the log is missing' })
  // If the index was made after the damage, it has no record for the damaged event. Then the event is not counted.
  const mayBeNumbered = indexed === undefined || (state === 'sound' && !isMissing)
  const event = indexed === offset || (mayBeNumbered && isEvent(json)) ? seen.events++ : undefined
  const id = eventIdOf(json)
  const numbered = { ...(event === undefined ? {} : { event }), ...(id === undefined ? {} : { id }) }
  const place = { file: 'events.jsonl', offset, line, ...numbered } as const
  if (state === 'torn') {
    seen.torn = { ...place, problem: 'the line has no end' }
    return
  }
  seen.head = { offset: piece.end, hash: piece.hash }
  if (state === 'damaged') return report({ ...place, problem: 'the line does not fit the chain' })
  if (!piece.closed) report({ ...place, problem: 'the line does not end in a newline' })
  const problem = problemOfJson(json)
  if (problem !== undefined) report({ ...place, problem })
  if (event === undefined) return
  const label = labelOf(json, kinds)
  if (label === undefined) return report({ ...place, problem: 'the event has no kind and id that are known' })
  if (label.upper <= seen.upper) report({ ...place, problem: 'the id is not after the id before it' })
  seen.upper = label.upper
  if (indexed === undefined) return
  const agrees = indexed === offset && index.upperOf(event) === label.upper && index.markOf(event) === label.mark
  if (agrees) return
  report({ ...indexRecord(event), event, problem: 'the record does not fit the log' })
}

function indexRecord(event: number): Pick<VerifyIssue, 'file' | 'offset'> {
  return { file: 'events.index', offset: event * recordBytes }
}

function problemOfJson(json: Buffer): string | undefined {
  if (!isEvent(json) && !isPrivateRecord(json)) return 'the line is neither an event nor a private record'
  if (!isUtf8(json)) return 'the text is not UTF-8'
  try {
    parseOwnJson(json.toString())
    return undefined
  } catch (thrown) {
    return `the JSON cannot be parsed: ${messageOf(thrown)}`
  }
}

/** Reads the index, and reports the first invalid record. An index that lacks the last events is no issue. */
async function readIndex(directory: string, report: Report): Promise<EventIndex> {
  const path = join(directory, 'events.index')
  if (!(await isThere(path))) return EventIndex.from(Buffer.alloc(0))
  const file = await openToRead(path)
  try {
    const bytes = await file.read(await file.size(), 0)
    const index = EventIndex.from(bytes)
    const offset = index.count * recordBytes
    if (offset !== bytes.length) report({ file: 'events.index', offset, problem: 'the record is not sound' })
    return index
  } finally {
    await file.close()
  }
}

function checkIndexEnd(index: EventIndex, events: number, report: Report): void {
  if (index.count <= events) return
  report({ file: 'events.index', offset: events * recordBytes, problem: 'the record stands for no event of the log' })
}

function isAt(state: CachedState | undefined, head: Position): boolean {
  return state !== undefined && state.line.offset === head.offset && state.line.hash === head.hash
}

/** Reports `state.json`, if it exists. Called when the state in it is damaged or belongs to no line of the log. */
async function checkNoState(directory: string, report: Report): Promise<void> {
  if (!(await isThere(join(directory, 'state.json')))) return
  report({ file: 'state.json', offset: 0, problem: 'the state is not sound or not of this log' })
}
