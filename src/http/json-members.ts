/**
 * Finds out whether an object in a JSON text has the same name twice. Programs differ in which of the two members they
 * use (RFC 8259, section 4).
 *
 * Parsing drops one of the two members. So the text has more colons outside of strings than the parsed value has
 * members.
 */
import { endOfString } from '../base/json.ts'

/** True when an object in the JSON text has a name twice. `value` is the value parsed from `bytes`. */
export function hasDoubledMember(bytes: Buffer, value: unknown): boolean {
  // `latin1` is enough: in UTF-8 no other character contains the byte of a quote, backslash or colon.
  return countColons(bytes.toString('latin1')) !== countMembers(value)
}

const quote = 0x22
const colon = 0x3a

function countColons(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === quote) index = endOfString(text, index + 1)
    else if (unit === colon) count++
  }
  return count
}

/** Counts the members of all objects in a value. Recursion is safe: the parser has limited the value's depth. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values: readonly unknown[] = Object.values(value)
  return values.reduce((sum: number, member) => sum + countMembers(member), Array.isArray(value) ? 0 : values.length)
}
