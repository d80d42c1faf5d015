/**
 * Random forms, and random damage to them.
 *
 * Three claims: a form that was written from a description is read back as that description, however it is cut; a
 * damaged one is read in the same way however it is cut; and nothing but an AppError of a client's fault is ever
 * thrown. The seed is printed; FUZZ_SEED repeats a run and FUZZ_ROUNDS makes it longer.
 */
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { readParts } from '../../src/parts/files/multipart.ts'
import { suite } from '../support/suite.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_007)
const rounds = Number(process.env['FUZZ_ROUNDS'] ?? 2000)
process.stdout.write(`FUZZ_SEED=${seed}\n`)

const test = suite('fuzz/multipart', 110_000)

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

/** Pieces of which contents and damage are made: most look like a part of the syntax. */
const snippets = [
  '\r\n', '--', '--b', '\r\n--', '\r\n--b', '-', '\r', '\n', ';', '"', 'name=', ': ', 'x', '\0', '\xff',
  'Content-Disposition: form-data',
]

type Fields = readonly { readonly name: string; readonly content: string }[]

function describe(): Fields {
  return Array.from({ length: below(4) }, () => {
    const content = Array.from({ length: below(8) }, () => pick(snippets)).join('')
    // A content never holds the delimiter: clients choose a boundary that it does not hold.
    return { name: pick(['file', 'a', '', 'a b', 'é']) ?? '', content: content.replaceAll('\r\n--b', '\r\n--c') }
  })
}

function write(fields: Fields): Buffer {
  const parts = fields.map(({ name, content }) => {
    const head = Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`)
    return Buffer.concat([head, Buffer.from(content, 'latin1'), Buffer.from('\r\n')])
  })
  return Buffer.concat([...parts, Buffer.from(pick(['--b--', '--b--\r\n']) ?? '')])
}

function damage(body: Buffer): Buffer {
  const at = below(body.length)
  const inserted = Buffer.from(pick(snippets) ?? '', 'latin1')
  return Buffer.concat([body.subarray(0, at), inserted, body.subarray(at + below(6))])
}

async function* cut(body: Buffer): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < body.length;) {
    const size = 1 + below(pick([1, 4, 40]) ?? 1)
    yield body.subarray(at, at + size)
    at += size
  }
}

async function outcomeOf(body: Buffer): Promise<string> {
  const fields: { name: string; content: string }[] = []
  try {
    for await (const { name, content } of readParts(cut(body), 'b')) {
      const pieces: Buffer[] = []
      for await (const piece of content) pieces.push(Buffer.from(piece))
      fields.push({ name, content: Buffer.concat(pieces).toString('latin1') })
    }
    return JSON.stringify(fields)
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'bad_request') {
      return `${JSON.stringify(fields)} ${thrown.message}`
    }
    throw thrown
  }
}

test('reads what was written', async () => {
  for (let round = 0; round < rounds; round++) {
    const fields = describe()
    assert.is(await outcomeOf(write(fields)), JSON.stringify(fields))
  }
})

test('reads a damaged form in one way only', async () => {
  for (let round = 0; round < rounds; round++) {
    let body = write(describe())
    for (let count = 1 + below(3); count > 0; count--) body = damage(body)
    const [first, ...others] = [await outcomeOf(body), await outcomeOf(body), await outcomeOf(body)]
    for (const other of others) assert.is(other, first, JSON.stringify(body.toString('latin1')))
  }
})

test.run()
