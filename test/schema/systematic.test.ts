/**
 * Every rule of every type, from both sides: for each member values that it may have and values that it may not have,
 * derived from the definitions. Both readers of a definition have to agree with the rule: the generated validator and
 * `check`.
 */
import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { check } from '../../src/schema/check.ts'
import type {
  ArraySchema, Member, NumberSchema, ObjectSchema, Schema, StringSchema,
} from '../../src/schema/spec/define.ts'
import { registry } from '../../src/schema/registry.ts'
import { suite } from '../support/suite.ts'
import { generatedType, generatedTypes, type GeneratedType } from './generated-code.ts'
import { minimalOf, minimalValueOf, minimalVariantsOf } from './samples.ts'

const test = suite('schema rules, systematically')

/** Of every JSON type one value that is no other. */
const ofEachType: readonly unknown[] = [null, true, 7, 'some text', [], {}]

for (const type of generatedTypes) {
  const schema = registry[type.name]
  if (schema?.type === 'object') {
    test(`holds every member of ${type.name} to its rules`, () => checkMembers(type, schema))
    const { name, to } = type
    if (to !== undefined) test(`fills in the defaults of ${name}, in order`, () => checkDefaults(name, schema, to))
  }
  if (schema?.type === 'union') {
    test(`takes each variant of ${type.name} by its tag and no other`, () => {
      for (const value of minimalVariantsOf(schema)) {
        assertAccepts(type, value)
        for (const tag of ['no such tag', '', null, 1]) {
          assertRefuses(type, Object.assign({}, value, { [schema.tag]: tag }), 'union_tag_invalid')
        }
      }
      if (schema.untagged === undefined) assertRefuses(type, {}, 'union_tag_not_found')
    })
  }
  test(`refuses what is not a ${type.name} at all`, () => {
    for (const value of ofEachType) {
      assert.is(type.is(value), check(type.name, value).length === 0, JSON.stringify(value))
      if (schema?.type !== 'alias' && !isObject(value)) assertRefuses(type, value, 'model_attributes_type')
    }
  })
}

test.run()

function checkMembers(type: GeneratedType, schema: ObjectSchema): void {
  const base = minimalOf(type.name)
  assert.ok(isObject(base))
  assertAccepts(type, base)
  for (const [name, member] of Object.entries(schema.members)) {
    const { [name]: _, ...without } = base
    if (member.presence === 'required') assertRefuses(type, without, 'missing')
    else assertAccepts(type, without)
    for (const value of accepted(member)) assertAccepts(type, { ...base, [name]: value })
    for (const value of refused(member)) assertRefuses(type, { ...base, [name]: value })
  }
  for (const name of ['unknown', '__proto__', 'constructor', 'toString']) {
    // As JSON.parse would: `__proto__` too becomes an own member.
    const extended = Object.fromEntries([...Object.entries(base), [name, 1]])
    if (schema.unknown === 'refused') assertRefuses(type, extended, 'extra_forbidden')
    else assertAccepts(type, extended)
  }
}

function checkDefaults(name: string, schema: ObjectSchema, to: (input: unknown) => unknown): void {
  const members = Object.entries(schema.members)
  const assigned = members.filter(([, member]) => member.presence === 'assigned').map(([key]) => [key, 'assigned'])
  const required = Object.entries(Object.assign({}, minimalOf(name), Object.fromEntries(assigned))).reverse()
  const normal = to(Object.fromEntries(required))
  assert.ok(isObject(normal))
  const present = members.filter(([, member]) => member.presence !== 'optional' && member.presence !== 'omittable')
  assert.equal(Object.keys(normal), present.map(([key]) => key))
  for (const [key, member] of present) {
    if (member.presence === 'default') assert.equal(normal[key], normalOf(member.schema, member.default), key)
  }
  const nulls = members.filter(([, member]) => takesNull(member)).map(([key]) => [key, null])
  const meant = members.flatMap(([key, member]) => {
    return (member.presence === 'default' && member.whenNull !== undefined ? [[key, member.whenNull]] : [])
  })
  const expected = { ...normal, ...Object.fromEntries(meant) }
  assert.equal(
    to(Object.fromEntries([...required, ...nulls])), expected, 'null is as good as absent, unless it means something',
  )
}

/** The normal form of a default, which is written in input form. */
function normalOf(schema: Schema, value: unknown): unknown {
  if (schema.type === 'reference') return generatedType(schema.name).to?.(value) ?? value
  if (schema.type === 'nullable' && value !== null) return normalOf(schema.of, value)
  if (schema.type !== 'array' || !Array.isArray(value)) return value
  return value.map((item: unknown) => normalOf(schema.items, item))
}

function accepted(member: Member): unknown[] {
  return [...edgesOf(member.schema).inside, ...(takesNull(member) ? [null] : [])]
}

function refused(member: Member): unknown[] {
  return edgesOf(member.schema).outside.filter((value) => !(value === null && takesNull(member)))
}

function takesNull(member: Member): boolean {
  return member.presence === 'optional' || (member.presence === 'default' && member.orNull)
}

interface Edges {
  readonly inside: readonly unknown[]
  readonly outside: readonly unknown[]
}

/** Returns values just inside and just outside of the range of a schema, and values of all other JSON types. */
function edgesOf(schema: Schema): Edges {
  switch (schema.type) {
    case 'string': return withOthers(['string'], stringEdges(schema))
    case 'integer': case 'number': return withOthers(['number'], numberEdges(schema))
    case 'boolean': return withOthers(['boolean'], { inside: [true, false], outside: [] })
    case 'constant': return withOthers([], { inside: [schema.value], outside: [`${schema.value}x`, ''] })
    case 'enumeration':
      return withOthers([], { inside: schema.values, outside: schema.values.map((value) => `${value}x`) })
    case 'nullable': {
      const { inside, outside } = edgesOf(schema.of)
      return { inside: [...inside, null], outside: outside.filter((value) => value !== null) }
    }
    case 'json': return { inside: ofEachType, outside: [] }
    case 'open': return withOthers(['object'], { inside: [{}, { anything: [null] }], outside: [] })
    case 'array': return withOthers(schema.bareText === undefined ? ['array'] : ['array', 'string'], arrayEdges(schema))
    case 'map': {
      const outside: unknown[] = edgesOf(schema.values).outside.map((bad) => ({ a: bad }))
      if (schema.keys !== undefined) outside.push({ 'no tag': minimalValueOf(schema.values) })
      const { maxProperties: most } = schema
      const membersOf = (length: number): object => {
        return Object.fromEntries(Array.from({ length }, (_, index) => [`a${index}`, minimalValueOf(schema.values)]))
      }
      if (most !== undefined) {
        outside.push(membersOf(most + 1))
        return withOthers(['object'], { inside: [{}, membersOf(most)], outside })
      }
      return withOthers(['object'], { inside: [{}, { a: minimalValueOf(schema.values) }], outside })
    }
    case 'either': {
      const takes = schema.of.map(edgesOf)
      return { inside: takes.flatMap(({ inside }) => inside), outside: [null, true] }
    }
    case 'reference': {
      const named = registry[schema.name]
      if (named?.type === 'alias') return edgesOf(named.of)
      return withOthers(['object'], { inside: [minimalOf(schema.name)], outside: [] })
    }
  }
}

function arrayEdges({ items, minItems = 0, maxItems = Infinity }: ArraySchema): Edges {
  const listOf = (length: number): unknown[] => Array.from({ length }, () => minimalValueOf(items))
  const outside: unknown[] = edgesOf(items).outside.map((bad) => [...listOf(minItems).slice(1), bad])
  if (minItems > 0) outside.push(listOf(minItems - 1))
  if (maxItems !== Infinity) outside.push(listOf(maxItems + 1))
  return { inside: [listOf(minItems), listOf(Math.min(minItems + 1, maxItems))], outside }
}

function withOthers(taken: readonly string[], { inside, outside }: Edges): Edges {
  const others = ofEachType.filter((value) => !taken.includes(jsonTypeOf(value)))
  return { inside, outside: [...outside, ...others] }
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function stringEdges({ minLength, maxLength, pattern, format }: StringSchema): Edges {
  if (pattern !== undefined) {
    return { inside: ['a', 'A1'.repeat(32)].filter((text) => new RegExp(pattern).test(text)), outside: ['', ' '] }
  }
  if (format === 'uuid') {
    const dashed = '01926f3e-7b1a-7abc-8def-0123456789ab'
    const plain = dashed.replaceAll('-', '')
    return {
      inside: [dashed, dashed.toUpperCase(), plain],
      outside: ['', `${dashed}0`, plain.slice(1), `g${plain.slice(1)}`, dashed.replace('-', '0'), `{${dashed}}`],
    }
  }
  if (format === 'date-time') {
    return { inside: ['2026-11-21', '2026-11-21T09:30:00Z'], outside: ['', 'now', '2026-13-01'] }
  }
  if (minLength === undefined && maxLength === undefined) return { inside: ['', 'text', '\ud800'], outside: [] }
  const bounds = [minLength, maxLength].filter((bound) => bound !== undefined)
  // Characters outside the basic plane take two code units and count as one.
  const ofLength = (length: number): string[] => ['x'.repeat(length), '\u{1f600}'.repeat(length)]
  const outside: string[] = []
  if (minLength !== undefined && minLength > 0) outside.push(...ofLength(minLength - 1))
  if (maxLength !== undefined) outside.push(...ofLength(maxLength + 1))
  return { inside: bounds.flatMap(ofLength), outside }
}

function numberEdges({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: NumberSchema): Edges {
  const step = type === 'integer' ? 1 : 1e-6
  const inside: number[] = []
  const outside: number[] = [Infinity]
  if (type === 'integer') outside.push(0.5, Number.MAX_SAFE_INTEGER + 1)
  if (minimum !== undefined) inside.push(minimum)
  if (minimum !== undefined) outside.push(minimum - step)
  if (maximum !== undefined) inside.push(maximum)
  if (maximum !== undefined) outside.push(maximum + step)
  if (exclusiveMinimum !== undefined) inside.push(exclusiveMinimum + step)
  if (exclusiveMinimum !== undefined) outside.push(exclusiveMinimum)
  if (exclusiveMaximum !== undefined) inside.push(exclusiveMaximum - step)
  if (exclusiveMaximum !== undefined) outside.push(exclusiveMaximum)
  return { inside: inside.length === 0 ? [0, -1, type === 'integer' ? 1 : 1.5] : inside, outside }
}

function assertAccepts(type: GeneratedType, value: unknown): void {
  const shown = `${type.name} ${JSON.stringify(value)}`
  assert.ok(type.is(value), shown)
  assert.equal(check(type.name, value), [], shown)
}

function assertRefuses(type: GeneratedType, value: unknown, rule?: string): void {
  const shown = `${type.name} ${JSON.stringify(value)}`
  assert.not(type.is(value), shown)
  const found = check(type.name, value)
  assert.ok(found.length > 0, shown)
  if (rule !== undefined) assert.ok(found.some((issue) => issue.type === rule), shown)
}
