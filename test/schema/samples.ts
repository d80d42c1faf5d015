/**
 * Valid values made from the definitions, for tests that go through all types. With a random source every choice is
 * drawn from it; `minimalOf` is the smallest value instead. Strings with a pattern come from a table of known ones.
 */
import type {
  Member, NamedSchema, NumberSchema, ObjectSchema, Schema, StringSchema, UnionSchema,
} from '../../src/schema/spec/define.ts'
import { registry, tagValues } from '../../src/schema/registry.ts'

/** A number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number

/** Mulberry32: small, seeded, good enough to draw test values. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: Random, choices: readonly T[]): T {
  const choice = choices[Math.floor(random() * choices.length)]
  if (choice === undefined) throw new RangeError('Cannot pick from an empty list')
  return choice
}

/** Returns a valid value that has only the required members. */
export function minimalOf(name: string): unknown {
  return namedSample(named(name), { random: () => 0, isMinimal: true })
}

/** A valid value with everything it may have. */
export function randomOf(name: string, random: Random): unknown {
  return namedSample(named(name), { random, isMinimal: false })
}

/** The smallest value of each variant of a union. */
export function minimalVariantsOf(union: UnionSchema): unknown[] {
  return union.variants.map((variant) => variantSample(union, variant, { random: () => 0, isMinimal: true }))
}

/** A valid value of a member's schema. */
export function minimalValueOf(schema: Schema): unknown {
  return sample(schema, { random: () => 0, isMinimal: true })
}

interface Style {
  readonly random: Random
  readonly isMinimal: boolean
}

const matching: Readonly<Record<string, readonly string[]>> = {
  '^(?! )[\\x20-\\x7e]{1,256}(?<! )$': ['k', 'a key with blanks', 'x'.repeat(256)],
  '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$': ['a', 'Z9_-.', 'a'.repeat(64)],
  '^[A-Za-z0-9_-]{1,64}$': ['a', 'canvas_open', 'Tool-7'],
  '^[a-z0-9]+$': ['a', 'tag1'],
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$': ['a', 'auth.json'],
  '^[a-zA-Z][a-zA-Z0-9_]{0,63}$': ['a', 'CODEX_AUTH_JSON'],
  '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$': ['a', 'My.profile-1'],
}
const texts = ['', 'text', 'line\nline', 'é', '\u{1f600}', '\ud800', '__proto__', '2026-11-21T09:30:00Z'] as const
const anything: readonly unknown[] = [null, 0, -1.5, 'x', true, [], {}, [null, { a: null }], { kind: 'X', __proto: 1 }]
const open: readonly unknown[] = [{}, { a: null }, JSON.parse('{"__proto__":{"a":1},"constructor":null}')]

function named(name: string): NamedSchema {
  const schema = registry[name]
  if (schema === undefined) throw new TypeError(`There is no type "${name}"`)
  return schema
}

function namedSample(schema: NamedSchema, style: Style): unknown {
  switch (schema.type) {
    case 'object': return objectSample(schema, style)
    case 'union': return unionSample(schema, style)
    case 'alias': return sample(schema.of, style)
  }
}

function unionSample(schema: UnionSchema, style: Style): unknown {
  return variantSample(schema, pick(style.random, schema.variants), style)
}

/** Always with its tag, though some unions do without. */
function variantSample(union: UnionSchema, variant: string, style: Style): unknown {
  const schema = named(variant)
  if (schema.type !== 'object') throw new TypeError(`The variant "${variant}" must be an object`)
  const tag = pick(style.random, tagValues(schema, union.tag))
  return { ...objectSample(schema, style), [union.tag]: tag }
}

function objectSample(schema: ObjectSchema, style: Style): Record<string, unknown> {
  const members = Object.entries(schema.members).filter(([, member]) => {
    return member.presence === 'required' || (!style.isMinimal && style.random() < 0.7)
  })
  // Input may come in any order.
  if (!style.isMinimal && style.random() < 0.3) members.reverse()
  return Object.fromEntries(members.map(([name, member]) => [name, memberSample(member, style)]))
}

function memberSample(member: Member, style: Style): unknown {
  const takesNull = member.presence === 'optional' || (member.presence === 'default' && member.orNull)
  return takesNull && style.random() < 0.2 ? null : sample(member.schema, style)
}

function sample(schema: Schema, style: Style): unknown {
  const { random, isMinimal } = style
  const times = isMinimal ? 0 : Math.floor(random() * 3)
  switch (schema.type) {
    case 'string': return stringSample(schema, style)
    case 'integer': case 'number': return numberSample(schema, style)
    case 'boolean': return random() < 0.5
    case 'constant': return schema.value
    case 'enumeration': return pick(random, schema.values)
    case 'nullable': return random() < 0.3 ? null : sample(schema.of, style)
    case 'either': return sample(pick(random, schema.of), style)
    case 'json': return pick(random, anything)
    case 'open': return pick(random, open)
    case 'reference': return namedSample(named(schema.name), style)
    case 'array': {
      if (schema.bareText !== undefined && !isMinimal && random() < 0.2) return 'a bare text'
      const length = Math.min(Math.max(times, schema.minItems ?? 0), schema.maxItems ?? Infinity)
      return Array.from({ length }, () => sample(schema.items, style))
    }
    case 'map': {
      const keys = schema.keys === undefined ? ['a', 'toString', '__proto__'] : matching[schema.keys] ?? []
      return Object.fromEntries(keys.slice(0, times).map((key) => [key, sample(schema.values, style)]))
    }
  }
}

function stringSample(schema: StringSchema, { random, isMinimal }: Style): string {
  if (schema.pattern !== undefined) return pick(random, matching[schema.pattern] ?? [])
  if (schema.format === 'uuid') return '01926f3e-7b1a-7abc-8def-0123456789ab'
  if (schema.format === 'date-time') return '2026-11-21T09:30:00.123456+01:00'
  const least = schema.minLength ?? 0
  if (isMinimal) return 'x'.repeat(least)
  const text = pick(random, texts)
  return schema.minLength === undefined && schema.maxLength === undefined ? text : 'é'.repeat(Math.max(1, least))
}

function numberSample(schema: NumberSchema, { random, isMinimal }: Style): number {
  const step = schema.type === 'integer' ? 1 : 0.5
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema
  if (exclusiveMaximum !== undefined && exclusiveMinimum !== undefined) return (exclusiveMinimum + exclusiveMaximum) / 2
  const least = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + step)
  if (isMinimal) return least
  return Math.min(least + Math.floor(random() * 3) * step, maximum ?? Infinity)
}
