/**
 * Classifies a log line by its first bytes.
 *
 * JSON that begins with `{"kind"` is an event. JSON that begins with `["` is a private record `[type, value]`. The mark
 * of an event is one byte: 6 bits for the position of its kind, then 2 bits for its source.
 */
import { eventSourceValues } from '../schema/generated/values.ts'

export interface EventLabel {
  /** The first 8 bytes of the id, as 16 hex digits. */
  readonly upper: string
  readonly mark: number
}

const sources: readonly string[] = eventSourceValues
/** The source bits of an event without a source. A fourth source would need this value: then this does not compile. */
const noSource = 3 satisfies (typeof eventSourceValues)['length']
/** `labelOf` and `eventIdOf` read this many bytes of an event: enough for its kind, id, timestamp and source. */
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

/** Returns the label of an event in canonical form; undefined for other bytes or an unknown kind. */
export function labelOf(json: Buffer, kinds: readonly string[]): EventLabel | undefined {
  const match = eventHead.exec(json.toString('latin1', 0, headBytes))
  if (match === null) return undefined
  const [, kind = '', first = '', second = '', third = '', source = ''] = match
  const place = kinds.indexOf(kind)
  return place === -1 ? undefined : { upper: first + second + third, mark: markOf(place, source) }
}

/** Returns the id from the first bytes of an event, which may be damaged; undefined without a whole id. */
export function eventIdOf(json: Buffer): string | undefined {
  const head = json.toString('latin1', 0, headBytes)
  return head.startsWith('{"kind"') ? /"id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/.exec(head)?.[1] : undefined
}

/** Returns the mark for a source and for the kind at position `kindPlace`. An unknown source counts as none. */
export function markOf(kindPlace: number, source: string): number {
  const sourcePlace = sources.indexOf(source)
  return (kindPlace << 2) | (sourcePlace === -1 ? noSource : sourcePlace)
}

/** Returns the kind of an event from its mark, as the position in the list of kinds. */
export function kindPlaceOf(mark: number): number {
  return mark >> 2
}

/** True when the mark of an event names this source. */
export function hasSource(mark: number, source: string): boolean {
  return (mark & 3) === sources.indexOf(source)
}
