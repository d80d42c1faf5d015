/**
 * Measures the time of the event loop for a compressed frame, once for all readers, beside zlib's default effort. The
 * last column has the processor time and the compressed size; the bounds in `src/ws/deflate` were chosen by it.
 */
import { randomBytes } from 'node:crypto'
import { constants, deflateRawSync } from 'node:zlib'
import { encodeCompressedText } from '../../src/ws/deflate.ts'
import type { Gate, Row } from './gate.ts'
import { compare, measure, type Round } from './rounds.ts'

const sizes: Readonly<Record<string, number>> = { '1 KB': 1024, '16 KB': 16 * 1024, '256 KB': 256 * 1024 }
const bytesPerRound = 2_000_000

export const compression: Gate = async ({ budgetMs }) => {
  const rows: Row[] = []
  for (const [size, bytes] of Object.entries(sizes)) {
    const payload = Buffer.from(words(bytes))
    const times = Math.ceil(bytesPerRound / payload.length)
    const roundOf = (encode: (payload: Buffer) => Buffer): Round => () => measure(() => {
      for (let time = 0; time < times; time++) encode(payload)
    })
    const limit = roundOf((each) => deflateRawSync(each, { finishFlush: constants.Z_SYNC_FLUSH }))
    const { cpu, ours } = await compare(
      { limit, ours: roundOf(encodeCompressedText) }, budgetMs / Object.keys(sizes).length,
    )
    const share = (encodeCompressedText(payload).length / payload.length) * 100
    const context = `${((ours.cpuMs / times) * 1000).toFixed(0)} us, to ${share.toFixed(0)} %`
    rows.push({
      what: `a compressed frame of ${size}: CPU`, limit: 'default effort of zlib', ratio: cpu, target: { atMost: 1.05 },
      context,
    })
  }
  return rows
}

/** Text of two thousand different words in random order, about as hard to compress as the texts of agents. */
function words(length: number): string {
  const vocabulary = Array.from({ length: 2000 }, (_, index) => randomBytes(1 + (index % 5)).toString('hex'))
  let text = ''
  while (text.length < length) text += `${vocabulary[randomBytes(2).readUInt16LE() % vocabulary.length] ?? ''} `
  return text.slice(0, length)
}
