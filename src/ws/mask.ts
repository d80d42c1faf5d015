/**
 * Unmasks a payload in place (RFC 6455, section 5.3): byte i is XORed with byte i mod 4 of the masking key.
 *
 * Four bytes are XORed at a time, which is several times faster than byte by byte (measured). Byte 0 of the masking
 * key is the lowest byte of the number `key`.
 */

export function unmask(payload: Buffer, key: number): void {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length)
  const end = payload.length & ~3
  for (let index = 0; index < end; index += 4) view.setInt32(index, view.getInt32(index, true) ^ key, true)
  for (let index = end; index < payload.length; index++) {
    view.setUint8(index, view.getUint8(index) ^ (key >>> ((index & 3) * 8)))
  }
}
