/**
 * Takes the mask off a payload (RFC 6455, section 5.3): byte i is XORed with byte i mod 4 of the key, in place.
 *
 * Done in words of four bytes, which is several times faster than byte by byte (measured). A view needs no alignment,
 * and payload and key are both read as little-endian whatever the machine is, so each byte meets its own.
 */

export function unmask(payload: Buffer, key: Buffer): void {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length)
  const word = key.readInt32LE(0)
  const end = payload.length & ~3
  for (let index = 0; index < end; index += 4) view.setInt32(index, view.getInt32(index, true) ^ word, true)
  for (let index = end; index < payload.length; index++) {
    view.setUint8(index, view.getUint8(index) ^ key.readUInt8(index & 3))
  }
}
