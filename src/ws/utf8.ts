/**
 * Validates UTF-8 (RFC 3629) that arrives in pieces (RFC 6455, section 8.1).
 *
 * A piece may end inside a character. The bytes of this character are the carry, which the caller passes with the next
 * piece. After the last piece the carry must be empty.
 */
import { isUtf8 } from 'node:buffer'

/** Joins `carry` and `piece`. Returns the new carry, which may be empty; undefined if the bytes are not UTF-8. */
export function carryUtf8(carry: Buffer, piece: Buffer): Buffer | undefined {
  const bytes = carry.length === 0 ? piece : Buffer.concat([carry, piece])
  const { length, missing } = openCharacter(bytes)
  const whole = bytes.length - length
  if (!isUtf8(bytes.subarray(0, whole))) return undefined
  // Copied, because a subarray of these few bytes would keep the whole piece in memory.
  const rest = Buffer.from(bytes.subarray(whole))
  return length === 0 || canBegin(rest, missing) ? rest : undefined
}

/** Counts the present and the missing bytes of an incomplete last character; both are 0 if the last one is complete. */
function openCharacter(bytes: Buffer): { length: number; missing: number } {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes.readUInt8(bytes.length - length)
    if ((byte & 0xc0) === 0x80) continue
    const missing = characterLength(byte) - length
    return missing > 0 ? { length, missing } : { length: 0, missing: 0 }
  }
  return { length: 0, missing: 0 }
}

function characterLength(lead: number): number {
  if (lead >= 0xf0) return 4
  if (lead >= 0xe0) return 3
  return lead >= 0xc0 ? 2 : 1
}

/**
 * True when `missing` more bytes can complete the character. Each allowed range of the next byte includes 80 or BF, and
 * the bytes after it may be either (RFC 3629, section 4). So two endings are tried: all 80 and all BF.
 */
function canBegin(start: Buffer, missing: number): boolean {
  return [0x80, 0xbf].some((fill) => isUtf8(Buffer.concat([start, Buffer.alloc(missing, fill)])))
}
