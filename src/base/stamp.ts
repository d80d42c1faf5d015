/**
 * Makes the ids and times of events.
 *
 * Times strictly increase, because events are found by time. An id is a UUIDv7 (RFC 9562, sections 5.7 and 6.2,
 * method 3) whose upper 8 bytes follow from the time alone.
 */

/** Returns milliseconds since the epoch. Tests pass their own clock. */
export type Clock = () => number

/** Returns a new buffer of `size` random bytes: `crypto.randomBytes` in the program, a seeded function in tests. */
export type RandomBytes = (size: number) => Buffer

export interface Stamp {
  /** Microseconds since the epoch. */
  readonly micros: number
  /** The UUIDv7, in lower case, with dashes. */
  readonly id: string
  /** The time as text, such as `2026-11-21T09:30:00.123456Z`. */
  readonly timestamp: string
}

const twoTo16 = 0x1_0000
const twoTo24 = 0x100_0000
const halfBytes = 8
const poolBytes = 64 * halfBytes

/** Returns the next stamp. `lowerHalf` is the last 16 hex digits of the stamp's id, by default random digits. */
export type NextStamp = (lowerHalf?: string) => Stamp

/** Returns a function that makes strictly increasing stamps, beginning after `lastMicros`. */
export function createStamper(clock: Clock, random: RandomBytes, lastMicros = 0): NextStamp {
  const nextLower = createLowerHalves(random)
  const format = createTimeFormat()
  let last = lastMicros
  return (lowerHalf = nextLower()) => {
    last = Math.max(last + 1, Math.floor(clock() * 1000))
    return { micros: last, id: uuidV7(upperHalfOf(last), lowerHalf), timestamp: format(last) }
  }
}

/** Formats a time as `2026-11-21T09:30:00.123456Z`. */
export function formatMicros(micros: number): string {
  return createTimeFormat()(micros)
}

/** Matches an ISO 8601 date, optionally with a time, a fraction and a zone. */
const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})?$/i

/** Converts an `isoTime` to microseconds since the epoch; undefined for any other text. The default zone is UTC. */
export function parseMicros(text: string): number | undefined {
  const match = isoTime.exec(text.trim())
  if (match === null) return undefined
  const [, date, time = '00:00', fraction = '', zone = 'Z'] = match
  const offset = /^z$/i.test(zone) ? 'Z' : zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`
  const seconds = time.length === 5 ? `${time}:00` : time
  const millis = Date.parse(`${date}T${seconds}${offset}`)
  if (Number.isNaN(millis)) return undefined
  return millis * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6))
}

/** Matches a UUID in lower case with dashes (RFC 9562, section 4). */
export const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Matches a UUID, with or without its dashes, in any case of letters. */
const uuidForm = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

/** Returns the first 8 bytes of a UUID, with or without dashes, as 16 hex digits; undefined for other text. */
export function upperHalf(id: string): string | undefined {
  if (canonicalUuid.test(id)) return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18)
  const match = uuidForm.exec(id)
  return match === null ? undefined : `${match[1]}${match[2]}${match[3]}`.toLowerCase()
}

/** The first 8 bytes of a UUID, as two numbers of 4 bytes. */
export interface UpperWords {
  readonly high: number
  readonly low: number
}

/** Returns the first 8 bytes of a UUID, with or without dashes, as two numbers; undefined for other text. */
export function upperWords(id: string): UpperWords | undefined {
  if (canonicalUuid.test(id)) return { high: hexAt(id, 0, 8), low: hexAt(id, 9, 13) * twoTo16 + hexAt(id, 14, 18) }
  const upper = upperHalf(id)
  return upper === undefined ? undefined : { high: hexAt(upper, 0, 8), low: hexAt(upper, 8, 16) }
}

/** Returns the value of the hex digits from `begin` to before `end`. `Number.parseInt` would need a substring. */
function hexAt(text: string, begin: number, end: number): number {
  let value = 0
  for (let at = begin; at < end; at++) {
    const code = text.charCodeAt(at)
    // The low four bits of a character code are the value of a digit, or 1 to 6 for the letters `a` to `f`.
    value = value * 16 + (code & 0xf) + (code > 0x39 ? 9 : 0)
  }
  return value
}

/** Returns the first 8 bytes that every id (UUID version 7) of this time has, as 16 hex digits. */
export function upperHalfOf(micros: number): string {
  const millis = Math.floor(micros / 1000)
  // The milliseconds are formatted in two halves, because `toString` is slow for numbers of more than 31 bits.
  const above = Math.floor(millis / twoTo24)
  return `${hex(above, 6)}${hex(millis - above * twoTo24, 6)}7${hex(micros - millis * 1000, 3)}`
}

/** Returns the time of an id, in microseconds since the epoch. `hex` has the id's first 8 bytes as 16 digits. */
export function microsOfUpperHalf(hex: string): number {
  return Number.parseInt(hex.slice(0, 12), 16) * 1000 + Number.parseInt(hex.slice(13, 16), 16)
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

function uuidV7(upper: string, lower: string): string {
  return `${upper.slice(0, 8)}-${upper.slice(8, 12)}-${upper.slice(12)}-${lower.slice(0, 4)}-${lower.slice(4)}`
}

/** Returns a function that makes the random lower halves of ids. It draws the random bytes for 64 ids at a time. */
function createLowerHalves(random: RandomBytes): () => string {
  let pool: Buffer = Buffer.alloc(0)
  let used = 0
  return () => {
    if (used === pool.length) {
      pool = random(poolBytes)
      used = 0
    }
    // Sets the two bits of the variant (RFC 9562) to 10.
    pool[used] = ((pool[used] ?? 0) & 0x3f) | 0x80
    used += halfBytes
    return pool.toString('hex', used - halfBytes, used)
  }
}

/** Returns a function that formats times like `formatMicros`. It caches the text of the last second. */
function createTimeFormat(): (micros: number) => string {
  let second = NaN
  let text = ''
  return (micros) => {
    const current = Math.floor(micros / 1_000_000)
    if (current !== second) text = new Date(current * 1000).toISOString().slice(0, -4)
    second = current
    return `${text}${String(micros - current * 1_000_000).padStart(6, '0')}Z`
  }
}
