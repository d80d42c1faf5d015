/**
 * Finds the members of a valid value that have no effect: unknown members that are dropped, and known members that no
 * code uses.
 *
 * A search ends when it has found `limit` members, or visited `stepLimit` members and items.
 */
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../base/json.ts'
import type { Definitions, Member, Members, Schema, UnionSchema } from './spec/define.ts'
import { registry, tagValues, type NamedType } from './registry.ts'

type JsonObject = Readonly<Record<string, unknown>>

interface Walk {
  readonly found: string[]
  readonly limit: number
  readonly loc: (string | number)[]
  steps: number
  readonly types: Definitions
}

const stepLimit = 2000

/** Returns the paths of at most `limit` members without effect, such as `agent.llm.modle`. */
export function ignoredMembers({ name, definitions }: NamedType, value: unknown, limit: number): readonly string[] {
  const types = definitions === undefined ? registry : { ...registry, ...definitions }
  const walk: Walk = { found: [], limit, loc: [], steps: 0, types }
  walkNamed(name, value, walk)
  return walk.found
}

function walkNamed(name: string, value: unknown, walk: Walk): void {
  const schema = walk.types[name]
  if (schema?.type === 'alias') return walkValue(schema.of, value, walk)
  if (schema === undefined || !isObject(value)) return
  const members = schema.type === 'union' ? variantOf(schema, value, walk) : schema.members
  const drops = schema.type === 'union' || schema.unknown === 'dropped'
  for (const member of Object.keys(value)) {
    if (isOver(walk)) return
    const known = Object.hasOwn(members, member) ? members[member] : undefined
    const isIgnored = known === undefined ? drops : known.unread === true && isSet(known, value[member])
    if (isIgnored) walk.found.push([...walk.loc, member].join('.'))
    else if (known !== undefined) walkAt(known.schema, member, value[member], walk)
  }
}

/** False for undefined, null and the default value: clients send these back in objects that the server gave them. */
function isSet(member: Member, value: unknown): boolean {
  if (value === null || value === undefined) return false
  return member.presence !== 'default' || !isDeepStrictEqual(value, member.default)
}

function walkValue(schema: Schema, value: unknown, walk: Walk): void {
  switch (schema.type) {
    case 'reference': return walkNamed(schema.name, value, walk)
    case 'nullable': return walkValue(schema.of, value, walk)
    case 'either': return schema.of.forEach((branch) => walkValue(branch, value, walk))
    case 'open': return schema.like === undefined ? undefined : walkNamed(schema.like, value, walk)
    case 'array': return Array.isArray(value) ? walkEach(schema.items, value.entries(), walk) : undefined
    case 'map': return isObject(value) ? walkEach(schema.values, Object.entries(value), walk) : undefined
    default:
  }
}

function walkEach(schema: Schema, entries: Iterable<[string | number, unknown]>, walk: Walk): void {
  for (const [place, item] of entries) {
    if (isOver(walk)) return
    walkAt(schema, place, item, walk)
  }
}

function walkAt(schema: Schema, place: string | number, value: unknown, walk: Walk): void {
  walk.loc.push(place)
  walkValue(schema, value, walk)
  walk.loc.pop()
}

function isOver(walk: Walk): boolean {
  return ++walk.steps > stepLimit || walk.found.length >= walk.limit
}

/** For each union: the members of each variant, by its tag values. A union is added when it is first used. */
const variants = new Map<UnionSchema, ReadonlyMap<unknown, Members>>()

/** Returns the members of the variant with this tag; the members of all variants for a missing or unknown tag. */
function variantOf(schema: UnionSchema, value: JsonObject, { types }: Walk): Members {
  const byTag = variants.get(schema) ?? readVariants(schema, types)
  variants.set(schema, byTag)
  return byTag.get(value[schema.tag]) ?? Object.assign({}, ...byTag.values())
}

function readVariants({ variants: names, tag }: UnionSchema, types: Definitions): ReadonlyMap<unknown, Members> {
  const objects = names.map((name) => types[name]).filter((variant) => variant?.type === 'object')
  const byValue = (variant: (typeof objects)[number]) =>
    tagValues(variant, tag).map((value) => [value, variant.members] as const)
  return new Map(objects.flatMap(byValue))
}
