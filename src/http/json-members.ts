/**
 * Finds objects in a JSON text that have the same name twice.
 *
 * RFC 8259, section 4 leaves open which of the two counts, so programs disagree: a proxy that checks a request and
 * this server that runs it would see two requests. Each member has one colon outside of strings, and the parsed value
 * has one member for each name. So both are counted and compared, which is independent of how a name is escaped.
 */
import { endOfString } from '../base/json.ts'

/** True when the value parsed from these bytes has fewer members than the text. */
export function hasDoubledMember(bytes: Buffer, value: unknown): boolean {
  // In UTF-8 no quote, backslash or colon is part of another character, so bytes can be read as characters.
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
