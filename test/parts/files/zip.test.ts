/** Zip archives: read back by a small reader of this file, and by unzip where there is one. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, inflateRawSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { writeZip, type ZipEntry } from '../../../src/parts/files/zip.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/files/zip')

async function zipOf(entries: readonly ZipEntry[], before?: number): Promise<Buffer> {
  async function* all(): AsyncGenerator<ZipEntry> {
    yield* entries
  }
  const pieces: Buffer[] = []
  for await (const piece of writeZip(all(), before)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Reads by the central directory. `before` bytes of the file are not in the buffer. */
function read(zip: Buffer, before = 0): [string, string][] {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'))
  let [count, offset] = [zip.readUInt16LE(end + 10), zip.readUInt32LE(end + 16)]
  if (count === 0xffff || offset === 0xffffffff) {
    const at = Number(zip.readBigUInt64LE(end - 20 + 8)) - before
    assert.is(zip.toString('latin1', at, at + 4), 'PK\x06\x06')
    ;[count, offset] = [Number(zip.readBigUInt64LE(at + 32)), Number(zip.readBigUInt64LE(at + 48))]
  }
  const found: [string, string][] = []
  for (let at = offset - before; found.length < count;) {
    assert.is(zip.toString('latin1', at, at + 4), 'PK\x01\x02')
    const [crc, packed, size] = [zip.readUInt32LE(at + 16), zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 24)]
    const [nameLength, extraLength] = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30)]
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength)
    let local = zip.readUInt32LE(at + 42)
    if (local === 0xffffffff) local = Number(zip.readBigUInt64LE(at + 46 + nameLength + 4))
    const start = local - before + 30 + zip.readUInt16LE(local - before + 26)
    const bytes = inflateRawSync(zip.subarray(start, start + packed))
    assert.equal([bytes.length, crc32(bytes)], [size, crc])
    found.push([name, bytes.toString()])
    at += 46 + nameLength + extraLength
  }
  return found
}

const entries = [['a.json', '{}'], ['events/é.json', 'x'.repeat(100_000)], ['empty', '']] as const
const asEntries = (list: Iterable<readonly [string, string]>): ZipEntry[] =>
  [...list].map(([name, text]) => ({ name, bytes: Buffer.from(text) }))

test('writes entries that are read back, the same bytes each time', async () => {
  const zip = await zipOf(asEntries(entries))
  assert.equal(read(zip), entries.map((entry) => [...entry]))
  assert.ok(zip.equals(await zipOf(asEntries(entries))))
  assert.equal(read(await zipOf([])), [])
})

test('writes more entries than a plain archive can hold', async () => {
  const many = Array.from({ length: 65_535 }, (_, index) => [`${index}`, ''] as const)
  assert.is(read(await zipOf(asEntries(many))).length, 65_535)
})

test('writes entries behind 4 GiB', async () => {
  const before = 2 ** 32 - 40
  assert.equal(read(await zipOf(asEntries(entries), before), before), entries.map((entry) => [...entry]))
})

const hasUnzip = ((): boolean => {
  try {
    return execFileSync('unzip', ['-v']).length > 0
  } catch {
    return false
  }
})()

if (!hasUnzip) test.skip('is read by unzip', 'there is no unzip')
else test('is read by unzip', async () => {
  const { folder, remove } = makeFolder()
  try {
    const path = join(folder, 'a.zip')
    writeFileSync(path, await zipOf(asEntries(entries)))
    assert.match(execFileSync('unzip', ['-t', path]).toString(), 'No errors detected')
    assert.is(execFileSync('unzip', ['-p', path, 'a.json']).toString(), '{}')
  } finally {
    remove()
  }
})

test.run()
