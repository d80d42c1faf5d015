import * as assert from 'uvu/assert'
import { formatLine, genesis } from '../../src/storage/chain.ts'
import { scan, type Piece, type ScanOptions } from '../../src/storage/scan.ts'
import { suite } from '../support/suite.ts'

const test = suite('storage/scan')

function linesOf(jsons: readonly string[]): Buffer[] {
  let hash = genesis
  return jsons.map((json) => {
    const line = formatLine(hash, Buffer.from(json))
    hash = line.hash
    return line.bytes
  })
}

async function pieces(data: Buffer, options: Partial<ScanOptions> = {}): Promise<Piece[]> {
  const found: Piece[] = []
  const read = async (length: number, position: number): Promise<Buffer> =>
    Buffer.from(data.subarray(position, position + length))
  for await (const part of scan({
    read, from: 0, to: data.length, previous: genesis, lineLimitBytes: 10_000_000, ...options,
  })) {
    found.push(...part)
  }
  return found
}

const shape = (found: readonly Piece[]): string[] =>
  found.map(({ state, bytes }) => (state === 'sound' ? bytes.toString() : state))
const four = ['{"kind":1}', '["two"]', '{"kind":3}', '["four"]']

test('gives all lines without a gap', async () => {
  const data = Buffer.concat(linesOf(four))
  const found = await pieces(data)
  assert.equal(shape(found), four)
  found.forEach(({ offset }, at) => assert.is(offset, found[at - 1]?.end ?? 0))
  assert.is(found.at(-1)?.end, data.length)
  assert.equal(await pieces(Buffer.alloc(0)), [])
})

test('finds lines that are longer than a chunk, and those after them', async () => {
  const long = [JSON.stringify(['x'.repeat(1_000_000)]), '["short"]', JSON.stringify(['y'.repeat(300_000)])]
  assert.equal(shape(await pieces(Buffer.concat(linesOf(long)))), long)
})

test(
  'begins anywhere when it is told where and with which hash, and trusts the first line when it is not told',
  async () => {
    const lines = linesOf(four)
    const data = Buffer.concat(lines)
    const [first, second] = await pieces(data)
    const from = second?.end ?? 0
    assert.equal(shape(await pieces(data, { from, previous: second?.hash ?? '' })), four.slice(2))
    assert.equal(shape(await pieces(data, { from, previous: first?.hash ?? '' })), ['damaged', four[3]])
    const read = async (length: number, position: number): Promise<Buffer> => data.subarray(position, position + length)
    const found: Piece[] = []
    for await (const part of scan({ read, from, to: data.length, lineLimitBytes: 1000 })) found.push(...part)
    assert.equal(shape(found), four.slice(2))
  },
)

test('says torn for what is not closed, and keeps a line that lacks nothing but its newline', async () => {
  const [one, two] = linesOf(four)
  if (one === undefined || two === undefined) throw new Error('no lines')
  for (const length of [1, 20, 33, two.length - 2, two.length - 1]) {
    assert.equal(shape(await pieces(Buffer.concat([one, two.subarray(0, length)]))), [four[0], 'torn'], String(length))
  }
  assert.equal(shape(await pieces(Buffer.concat([one, two.subarray(0, -1), Buffer.from('?')]))), four.slice(0, 2))
})

test('loses one line to damage in its hash, its space or its JSON, and none to a damaged newline', async () => {
  const lines = linesOf(four)
  const offsets = lines.map((_, at) => Buffer.concat(lines.slice(0, at)).length)
  const second = offsets[1] ?? 0
  const third = offsets[2] ?? 0
  const cases: readonly (readonly [number, string, readonly string[]])[] = [
    [second + 3, '0', ['{"kind":1}', 'damaged', '{"kind":3}', '["four"]']],
    [second + 3, 'X', ['{"kind":1}', 'damaged', '{"kind":3}', '["four"]']],
    [second + 32, '_', ['{"kind":1}', 'damaged', '{"kind":3}', '["four"]']],
    [second + 36, '_', ['{"kind":1}', 'damaged', '{"kind":3}', '["four"]']],
    [second + 36, '\n', ['{"kind":1}', 'damaged', '{"kind":3}', '["four"]']],
    [third - 1, '_', four],
    [third - 1, '0', four],
  ]
  for (const [at, text, expected] of cases) {
    const data = Buffer.concat(lines)
    if (data[at] === text.charCodeAt(0)) data[at] = 0x31
    else data[at] = text.charCodeAt(0)
    const found = await pieces(data)
    assert.equal(shape(found), expected, `${at} ${text}`)
    found.forEach(({ offset }, index) => assert.is(offset, found[index - 1]?.end ?? 0))
  }
})

test('finds a line behind two that are damaged in different ways', async () => {
  const lines = linesOf([...four, '["five"]', '["six"]'])
  const data = Buffer.concat(lines)
  const second = lines[0]?.length ?? 0
  const third = second + (lines[1]?.length ?? 0)
  data[second + 2] = 0x7a
  data[third + 40] = 0x7a
  assert.equal(shape(await pieces(data)), [four[0], 'damaged', 'damaged', four[3], '["five"]', '["six"]'])
  const both = Buffer.concat(lines)
  both[third + 40] = 0x7a
  both[third + (lines[2]?.length ?? 0) - 1] = 0x7a
  assert.equal(shape(await pieces(both)), [four[0], four[1], 'damaged', four[3], '["five"]', '["six"]'])
})

test('takes what looks like a line inside JSON for text', async () => {
  const tricky = [JSON.stringify([`x${'0'.repeat(32)} {"kind"`]), '["next"]']
  assert.equal(shape(await pieces(Buffer.concat(linesOf(tricky)))), tricky)
})

test('needs time in proportion to garbage', async () => {
  const hostile = Buffer.from(`${'0'.repeat(32)} [\n`.repeat(20_000))
  const found = await pieces(hostile)
  assert.is(found.at(-1)?.end, hostile.length)
  const newlines = await pieces(Buffer.alloc(1_000_000, '\n'))
  assert.is(newlines.at(-1)?.end, 1_000_000)
})

test.run()
