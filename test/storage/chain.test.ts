import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { formatLine, genesis, hashAt, hashOf, mayBeginLine } from '../../src/storage/chain.ts'
import { suite } from '../support/suite.ts'

const test = suite('storage/chain')

test('makes a line of hash, space, JSON and newline, where the hash covers the one before', () => {
  const json = Buffer.from('{"kind":"é"}')
  const first = formatLine(genesis, json)
  const expected = createHash('sha256').update(genesis).update(json).digest('hex').slice(0, 32)
  assert.is(first.hash, expected)
  assert.is(first.bytes.toString(), `${expected} {"kind":"é"}\n`)
  assert.is(first.json.toString(), '{"kind":"é"}')
  assert.is(first.json.buffer, first.bytes.buffer)
  assert.is(first.bytes.buffer.byteLength, first.bytes.length)
  const second = formatLine(first.hash, Buffer.from('["x"]'))
  assert.is(second.hash, createHash('sha256').update(`${expected}["x"]`).digest('hex').slice(0, 32))
  assert.is(hashOf(first.hash, Buffer.from('["x"]')), second.hash)
})

test('says with which hash a line begins, and nothing where none does', () => {
  const hash = 'a0'.repeat(16)
  const data = Buffer.from(`x${hash} {`)
  assert.is(hashAt(data, 1), hash)
  assert.is(hashAt(data, 0), undefined)
  assert.is(hashAt(data, 2), undefined)
  assert.is(hashAt(Buffer.from(hash), 0), undefined)
  assert.is(hashAt(Buffer.from(`${hash.toUpperCase()} {`), 0), undefined)
  assert.is(hashAt(Buffer.from(`${hash}_{`), 0), undefined)
})

test('takes what ends within a head for the beginning of a line as long as nothing contradicts', () => {
  const hash = '0'.repeat(32)
  const cases = [
    ['', true], ['0f', true], ['0g', false], [hash, true], [`${hash} `, true], [`${hash}0`, false],
  ] as const
  for (const [text, expected] of cases) {
    assert.is(mayBeginLine(Buffer.from(text), 0), expected, text)
  }
})

test.run()
