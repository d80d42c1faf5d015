/**
 * Classifies a log line by its first bytes, without parsing it.
 *
 * JSON that begins with `{"kind"` is an event. JSON that begins with `["` is a private record `[type, value]`, which is
 * never served or counted. The mark of an event is one byte: the upper 6 bits are the kind's position in the list of
 * kinds, the lower 2 bits are the source.
 */
import { eventSourceValues } from '../schema/generated/values.ts'

export interface EventLabel {
  /** The first 8 bytes of the id, as 16 hex digits. */
  readonly upper: string
  readonly mark: number
}

const sources: readonly string[] = eventSourceValues
/** The mark's 2 bits for no source. A fourth source does not compile: it needs another format of the index. */
const noSource = 3 satisfies (typeof eventSourceValues)['length']
/** The number of first bytes that are examined: more than kind, id, timestamp and source of any event need. */
const headBytes = 192

// The canonical form: {"kind":"...","id":"<UUID>","timestamp":"...","source":"..." where the last two may be missing.
const eventHead = new RegExp([
  /^\{"kind":"(\w+)","id":"([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-[0-9a-f-]{17}"/,
  /(?:,"timestamp":"[^"]*")?(?:,"source":"(\w+)")?/,
].map(({ source }) => source).join(''))

export function isEvent(json: Buffer): boolean {
  return json.length > 7 && json.toString('latin1', 0, 7) === '{"kind"'
}

export function isPrivateRecord(json: Buffer): boolean {
  return json.length > 2 && json.toString('latin1', 0, 2) === '["'
}

/** Returns id and mark of an event in canonical form; undefined for other bytes or a kind that is not in the list. */
export function labelOf(json: Buffer, kinds: readonly string[]): EventLabel | undefined {
  const match = eventHead.exec(json.toString('latin1', 0, headBytes))
  if (match === null) return undefined
  const [, kind = '', first = '', second = '', third = '', source = ''] = match
  const place = kinds.indexOf(kind)
  return place === -1 ? undefined : { upper: first + second + third, mark: markOf(place, source) }
}

/** Returns the whole id from the first bytes of an event that may be damaged; undefined if they hold no whole id. */
export function eventIdOf(json: Buffer): string | undefined {
  const head = json.toString('latin1', 0, headBytes)
  return head.startsWith('{"kind"') ? /"id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/.exec(head)?.[1] : undefined
}

/** Returns the mark for a position in the list of kinds and a source. Any other text gives a mark without a source. */
export function markOf(kindPlace: number, source: string): number {
  const sourcePlace = sources.indexOf(source)
  return (kindPlace << 2) | (sourcePlace === -1 ? noSource : sourcePlace)
}

/** Returns the position in the list of kinds that a mark holds. */
export function kindPlaceOf(mark: number): number {
  return mark >> 2
}

/** True when a mark holds this source. */
export function hasSource(mark: number, source: string): boolean {
  return (mark & 3) === sources.indexOf(source)
}
