/** The definitions against vectors written by hand from the specification (test/vectors/README.md). */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { check } from '../../src/schema/check.ts'
import { suite } from '../support/suite.ts'
import { generatedType } from './generated-code.ts'

const test = suite('schema vectors')
const folder = new URL('../../../test/vectors/', import.meta.url)

for (const file of ['values', 'events', 'actions', 'observations', 'requests']) {
  for (const [name, vector] of Object.entries(readVectors(file))) addTests(name, vector)
}

test.run()

type Change = Readonly<Record<string, unknown>>

interface Vector {
  readonly canonical: readonly (readonly [input: unknown, text: string])[]
  readonly base: Change
  readonly accepts: readonly Change[]
  /** A change, then place and type of each issue it causes. */
  readonly refuses: readonly (readonly [change: Change, ...issues: string[]])[]
}

function addTests(name: string, vector: Vector): void {
  const { is, to } = generatedType(name)
  test(`prints ${name} in its canonical form`, () => {
    for (const [input, text] of vector.canonical) {
      assert.ok(is(input), JSON.stringify(input))
      assert.is(JSON.stringify(to?.(input)), text)
      assert.is(JSON.stringify(to?.(JSON.parse(text))), text, 'the canonical form is its own canonical form')
      assert.equal(check(name, input), [])
    }
  })
  test(`accepts what a ${name} may be`, () => {
    for (const change of vector.accepts) {
      assert.ok(is(changed(vector.base, change)), JSON.stringify(change))
      assert.equal(check(name, changed(vector.base, change)), [])
    }
  })
  test(`refuses what a ${name} may not be, and says why`, () => {
    for (const [change, ...expected] of vector.refuses) {
      const value = changed(vector.base, change)
      assert.not(is(value), JSON.stringify(change))
      const found = check(name, value).flatMap(({ loc, type }) => [loc.join('.'), type])
      assert.equal(found, expected, JSON.stringify(change))
    }
  })
}

function changed(base: Change, change: Change): Change {
  const value: Record<string, unknown> = structuredClone(base)
  for (const [name, member] of Object.entries(change)) {
    if (name.startsWith('-')) delete value[name.slice(1)]
    else value[name] = member
  }
  return value
}

function readVectors(file: string): Record<string, Vector> {
  const vectors: unknown = JSON.parse(readFileSync(new URL(`${file}.json`, folder), 'utf8'))
  assert.ok(isObject(vectors))
  return Object.fromEntries(Object.entries(vectors).map(([name, vector]) => [name, readVector(vector)]))
}

function readVector(vector: unknown): Vector {
  if (!isObject(vector)) throw new TypeError('A vector must be an object')
  const canonical = listOf(vector['canonical']).map((pair): [unknown, string] => {
    const [input, text] = listOf(pair)
    return [input, String(text)]
  })
  const base = vector['base'] ?? canonical[0]?.[0]
  if (!isObject(base)) throw new TypeError('A vector must have a base')
  const refuses = listOf(vector['refuses']).map((row): [Change, ...string[]] => {
    const [change, ...issues] = listOf(row)
    return [changeOf(change), ...issues.map(String)]
  })
  return { canonical, base, accepts: listOf(vector['accepts']).map(changeOf), refuses }
}

function changeOf(value: unknown): Change {
  if (!isObject(value)) throw new TypeError('A change must be an object')
  return value
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError('A vector must consist of lists')
  return value
}
