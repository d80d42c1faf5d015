/**
 * Random archives, and random damage to them.
 *
 * Four claims: an archive that was written from a description is read back as that description; a damaged one is read
 * or refused in the same way however its pieces are cut; nothing but an AppError of a client's fault is ever thrown;
 * and every unpacked file lies below the folder, as a regular file. The seed is printed; FUZZ_SEED repeats a run and
 * FUZZ_ROUNDS makes it longer.
 */
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { readArchive } from '../../src/parts/extensions/archive/open-archive.ts'
import { readTar } from '../../src/parts/extensions/archive/tar.ts'
import { unpack } from '../../src/parts/extensions/archive/unpack.ts'
import { filesIn, paxHeader, tarEnd, tarBlocks, zipOf, type TarEntry } from '../parts/extensions/archives.ts'
import { suite } from '../support/suite.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_007)
const rounds = Number(process.env['FUZZ_ROUNDS'] ?? 1000)
process.stdout.write(`FUZZ_SEED=${seed}\n`)

const test = suite('fuzz/archives', 110_000)

/** A number from 0 up to but not including 1 (mulberry32). */
let state = seed
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}
const below = (limit: number): number => Math.floor(random() * limit)
const pick = <T>(values: readonly T[]): T | undefined => values[below(values.length)]

interface File {
  readonly name: string
  readonly content: string
}

function describe(): readonly File[] {
  const names = new Set(Array.from({ length: below(6) }, (_, index) => {
    const folders = Array.from({ length: below(4) }, () => `${pick(['a', 'b', 'é', 'long'.repeat(20)])}/`)
    return `${folders.join('')}f${index}${pick(['', '.md', ' x', 'n'.repeat(90)])}`
  }))
  const words = ['', 'text', '\0\xff', 'PK\x05\x06']
  return [...names].map((name) => ({ name, content: (pick(words) ?? '').repeat(below(400)) }))
}

const described = (files: readonly File[]): string => {
  return JSON.stringify(Object.fromEntries(files.map(({ name, content }) => [name, content]).sort()))
}

function tarred(files: readonly File[]): Buffer {
  const entries = files.flatMap(({ name, content }): TarEntry[] => {
    const entry = { name, content: Buffer.from(content, 'latin1') }
    if (Buffer.byteLength(name) <= 99 && random() < 0.5) return [entry]
    const long = random() < 0.5 ? paxHeader(`path=${name}`) : { name: 'L', type: 'L', content: `${name}\0` }
    return [long, { ...entry, name: 'short' }]
  })
  return Buffer.concat([...entries.map(tarBlocks), tarEnd])
}

function zipped(files: readonly File[]): Buffer {
  return zipOf(files.map(({ name, content }) => {
    return { name, content: Buffer.from(content, 'latin1'), method: random() < 0.5 ? 0 : 8 }
  }))
}

function written(files: readonly File[]): Buffer {
  const choice = below(3)
  return choice === 0 ? zipped(files) : choice === 1 ? gzipSync(tarred(files)) : tarred(files)
}

const snippets = [
  '../', '/', '\\', '\0', '\xff', 'PK\x03\x04', 'PK\x01\x02', 'PK\x05\x06', 'PK\x07\x08', '77777777777',
  'ustar\x0000', '2', '1', 'x',
]

/** Changes, inserts or removes some bytes. A third of the damage to a tar header gets a right checksum again. */
function damage(archive: Buffer): Buffer {
  const at = below(archive.length)
  const inserted = Buffer.from(pick(snippets) ?? '', 'latin1')
  const kind = below(3)
  if (kind === 0) return Buffer.concat([archive.subarray(0, at), inserted, archive.subarray(at + inserted.length)])
  if (kind === 1) return Buffer.concat([archive.subarray(0, at), inserted, archive.subarray(at + below(40))])
  const copy = Buffer.from(archive)
  copy[at] = below(256)
  if (copy.toString('latin1', 257, 262) !== 'ustar' || random() < 0.3) return copy
  const header = copy.subarray(at - (at % 512), at - (at % 512) + 512)
  if (header.length < 512) return copy
  header.fill(0x20, 148, 156)
  header.write(`${header.reduce((all, byte) => all + byte, 0).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return copy
}

async function outcomeOf(archive: Buffer): Promise<string> {
  try {
    return JSON.stringify(Object.fromEntries(Object.entries(await filesIn(archive)).sort()))
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'bad_request') return thrown.message
    throw thrown
  }
}

test('reads what was written', async () => {
  for (let round = 0; round < rounds; round++) {
    const files = describe()
    if (files.length > 0) assert.is(await outcomeOf(written(files)), described(files))
  }
})

test('reads or refuses a damaged archive, and throws nothing else', async () => {
  for (let round = 0; round < rounds; round++) {
    let archive = written(describe())
    for (let count = 1 + below(3); count > 0 && archive.length > 0; count--) archive = damage(archive)
    const first = await outcomeOf(archive)
    assert.is(await outcomeOf(archive), first)
  }
})

async function* cut(bytes: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length;) {
    const size = 1 + below(pick([3, 600, 5000]) ?? 1)
    yield bytes.subarray(at, at + size)
    at += size
  }
}

async function tarOutcome(bytes: Buffer): Promise<string> {
  const seen: string[] = []
  try {
    for await (const { name, kind, target, content } of readTar(cut(bytes), 1e7)) {
      const pieces: Buffer[] = []
      for await (const piece of content) pieces.push(Buffer.from(piece))
      seen.push(`${kind} ${name} ${target} ${Buffer.concat(pieces).toString('latin1')}`)
    }
    return JSON.stringify(seen)
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'bad_request') return `${JSON.stringify(seen)} ${thrown.message}`
    throw thrown
  }
}

test('reads a damaged tar archive in one way only, however it is cut', async () => {
  for (let round = 0; round < rounds; round++) {
    let archive = tarred(describe())
    for (let count = 1 + below(3); count > 0; count--) archive = damage(archive)
    const first = await tarOutcome(archive)
    for (let again = 0; again < 2; again++) assert.is(await tarOutcome(archive), first)
  }
})

test('unpacks below the folder only, and regular files only', async () => {
  for (let round = 0; round < rounds / 4; round++) {
    let archive = written(describe())
    for (let count = below(4); count > 0 && archive.length > 0; count--) archive = damage(archive)
    const top = mkdtempSync(join(tmpdir(), 'unpacked-'))
    try {
      const folder = mkdtempSync(join(top, 'folder-'))
      const read = async (at: number, length: number): Promise<Buffer> => archive.subarray(at, at + length)
      const entries = readArchive({ size: archive.length, read })
      await unpack(entries, folder, new AbortController().signal).catch((thrown) => {
        assert.ok(thrown instanceof AppError && thrown.code === 'bad_request', String(thrown))
      })
      assert.is(readdirSync(top).length, 1)
      for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const stats = lstatSync(join(folder, path))
        assert.ok(stats.isDirectory() || stats.isFile(), path)
        if (stats.isFile()) readFileSync(join(folder, path))
      }
    } finally {
      rmSync(top, { recursive: true, force: true })
    }
  }
})

test.run()
