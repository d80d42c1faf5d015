import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { faultsOf } from './json-schema.ts'

const test = suite('schema json-schema')

const document = {
  parts: {
    A: { type: 'object', properties: { kind: { const: 'A' } }, required: ['kind'], additionalProperties: false },
    B: { type: 'object', properties: { kind: { const: 'B' }, n: { type: 'integer' } }, required: ['kind', 'n'] },
  },
}
const union = {
  oneOf: [{ $ref: '#/parts/A' }, { $ref: '#/parts/B' }],
  discriminator: { propertyName: 'kind', mapping: { A: '#/parts/A', B: '#/parts/B' } },
}

/** Schema, values that fit, values that do not. */
const cases: readonly (readonly [schema: object, fits: readonly unknown[], misfits: readonly unknown[]])[] = [
  [{ type: 'string' }, ['', 'a'], [1, null, [], {}]],
  [{ type: 'integer' }, [0, -1], [0.5, '1', null]],
  [{ type: 'number' }, [0, 0.5], ['1']],
  [{ type: 'boolean' }, [true], [0]],
  [{ type: 'null' }, [null], [0, {}]],
  [{ type: 'array', items: { type: 'string' } }, [[], ['a', 'b']], [['a', 1], {}]],
  [{ minItems: 1, maxItems: 2 }, [['a'], ['a', 'b']], [[], ['a', 'b', 'c']]],
  [{ type: 'object', additionalProperties: { type: 'integer' } }, [{}, { a: 1 }], [{ a: 'x' }, []]],
  [{ type: 'object', additionalProperties: true }, [{}, { a: null }], [[], 'x']],
  [{ propertyNames: { pattern: '^a' } }, [{}, { a: 1 }], [{ b: 1 }]],
  [{ const: 'x' }, ['x'], ['y', null]],
  [{ enum: ['x', 'y'] }, ['x', 'y'], ['z']],
  [{ minLength: 2, maxLength: 3 }, ['ab', 'abc', '\u{1f600}\u{1f600}'], ['a', 'abcd']],
  [{ minimum: 0, maximum: 1 }, [0, 1], [-1, 2]],
  [{ exclusiveMinimum: 0, exclusiveMaximum: 1 }, [0.5], [0, 1]],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, ['a', null], [1]],
  [union, [{ kind: 'A' }, { kind: 'B', n: 1 }], [{ kind: 'C' }, { kind: 'A', n: 1 }, { kind: 'B' }, 'A']],
]

for (const [schema, fits, misfits] of cases) {
  test(`takes and refuses by ${JSON.stringify(schema).slice(0, 60)}`, () => {
    for (const value of fits) assert.equal(faultsOf(value, schema, document), [])
    for (const value of misfits) assert.ok(faultsOf(value, schema, document).length > 0, JSON.stringify(value))
  })
}

test('says where a variant is wrong, and does not pass over a keyword', () => {
  assert.equal(faultsOf({ kind: 'B' }, union, document), ['$: "n" is missing'])
  assert.equal(faultsOf(1, { not: {} }, document), ['$: the keyword "not" is unknown'])
  assert.equal(faultsOf(1, { $ref: '#/parts/C' }, document), ['$: the schema is no object'])
})

test.run()
