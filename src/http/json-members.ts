/**
 * Finds objects in a JSON text in which one name stands twice.
 *
 * RFC 8259, section 4 leaves open which of the two counts, so programs disagree: a proxy that looks at a request and this
 * server that runs it would see two requests. A member has one colon outside of strings, and the parsed value has one
 * member for each name. So both are counted and compared; how a name is escaped does not matter then.
 */

/** True when the value that was parsed from these bytes has fewer members than the text. */
export function hasDoubledMember(bytes: Buffer, value: unknown): boolean {
  return countColons(bytes) !== countMembers(value)
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/** In UTF-8 none of these characters is a part of another one. */
function countColons(bytes: Buffer): number {
  let count = 0
  let isInString = false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (byte === quote) isInString = !isInString
    else if (byte === backslash) index++
    else if (byte === colon && !isInString) count++
  }
  return count
}

/** The parser has limited the depth. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values: readonly unknown[] = Object.values(value)
  return values.reduce((sum: number, member) => sum + countMembers(member), Array.isArray(value) ? 0 : values.length)
}
