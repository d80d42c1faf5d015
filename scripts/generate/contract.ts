/**
 * The definitions as a whole, with answers to the questions of the printers: which variant a tag means, whether the
 * input form of a type differs from its normal form, and whether a value has to be converted from one to the other.
 */
import {
  constant, ref, required, type NamedSchema, type ObjectSchema, type Schema, type UnionSchema,
} from '../../src/schema/spec/define.ts'
import { tagValues } from '../../src/schema/registry.ts'
import type { SpecFile } from './specs.ts'

export interface Contract {
  readonly types: ReadonlyMap<string, NamedSchema>
  /** The generated file of each type, below `src`. */
  readonly homes: ReadonlyMap<string, string>
}

/** @throws Error when a definition is unsound: see `assertSound`. */
export function createContract(files: readonly Pick<SpecFile, 'generated' | 'definitions'>[]): Contract {
  const types = new Map<string, NamedSchema>()
  const homes = new Map<string, string>()
  for (const { generated, definitions } of files) {
    for (const [name, schema] of Object.entries(definitions)) {
      if (types.has(name)) throw new Error(`Type "${name}" is defined twice`)
      types.set(name, schema)
      homes.set(name, generated)
    }
  }
  const contract = { types, homes }
  for (const [name, schema] of types) assertSound(contract, schema, name)
  return contract
}

export function find({ types }: Contract, name: string): NamedSchema {
  const schema = types.get(name)
  if (schema === undefined) throw new Error(`Type "${name}" is referred to, but not defined`)
  return schema
}

export interface Choice {
  readonly variant: string
  readonly tags: readonly string[]
}

/** The variants of a union, each with the tag values that select it. */
export function choicesOf(contract: Contract, union: UnionSchema): Choice[] {
  return union.variants.map((variant) => ({ variant, tags: tagValues(findObject(contract, variant), union.tag) }))
}

/** A variant that stands for several tag values, as an object for one of them alone. */
export function narrow(contract: Contract, union: UnionSchema, { variant }: Choice, tag: string): ObjectSchema {
  const schema = findObject(contract, variant)
  return { ...schema, members: { ...schema.members, [union.tag]: required(constant(tag)) } }
}

/** The union that names this type as a variant. */
export function unionOf({ types }: Contract, name: string): UnionSchema | undefined {
  const unions = [...types.values()].filter((schema) => schema.type === 'union')
  return unions.find((union) => union.variants.includes(name))
}

/** Whether the input form differs: something in it may be missing, null or a bare text that is not so afterwards. */
export function inputDiffers(contract: Contract, schema: Schema | NamedSchema): boolean {
  if (schema.type === 'array' && schema.bareText !== undefined) return true
  if (schema.type === 'object') {
    const presences = Object.values(schema.members).map((member) => member.presence)
    if (presences.some((presence) => presence !== 'required' && presence !== 'omittable')) return true
  }
  return partsOf(contract, schema).some((part) => inputDiffers(contract, part))
}

/** Whether the normal form is another value than the input: objects get their members in order. */
export function isConverted(contract: Contract, schema: Schema | NamedSchema): boolean {
  if (schema.type === 'array' && schema.bareText !== undefined) return true
  if (schema.type === 'object') return schema.unknown !== 'kept'
  return partsOf(contract, schema).some((part) => isConverted(contract, part))
}

/** The members that the server supplies; the variants of a union agree about them. */
export function assignedOf(contract: Contract, schema: NamedSchema): string[] {
  if (schema.type === 'union') return assignedOf(contract, findObject(contract, schema.variants[0] ?? ''))
  if (schema.type !== 'object') return []
  return Object.entries(schema.members).filter(([, member]) => member.presence === 'assigned').map(([name]) => name)
}

function findObject(contract: Contract, name: string): ObjectSchema {
  const schema = find(contract, name)
  if (schema.type !== 'object') throw new Error(`Type "${name}" is a variant of a union, so it must be an object`)
  return schema
}

/** The schemas that a schema is made of. */
function partsOf(contract: Contract, schema: Schema | NamedSchema): readonly (Schema | NamedSchema)[] {
  switch (schema.type) {
    case 'object': return Object.values(schema.members).map((member) => member.schema)
    case 'union': return schema.variants.map((variant) => find(contract, variant))
    case 'reference': return [find(contract, schema.name)]
    case 'alias': case 'nullable': return [schema.of]
    case 'either': return schema.of
    case 'array': return schema.bareText === undefined ? [schema.items] : [schema.items, ref(schema.bareText)]
    case 'map': return [schema.values]
    default: return []
  }
}

/**
 * Throws when a definition is not sound. A definition is sound when everything it refers to is defined, no type of the
 * input refers to a type that only leaves the server, and no member has the name of a member that every JavaScript
 * object inherits: validators do not ask whether a member is inherited.
 */
function assertSound(contract: Contract, schema: NamedSchema, name: string): void {
  if (schema.type === 'object') {
    const inherited = Object.keys(schema.members).find((member) => member in Object.prototype)
    if (inherited !== undefined) throw new Error(`Type "${name}" has a member "${inherited}", as every object has`)
    if (schema.outgoing === true) return
  }
  const walk = (part: Schema | NamedSchema): void => {
    if (part.type === 'object' && part.outgoing === true) {
      throw new Error(`Type "${name}" refers to a type that only leaves the server`)
    }
    for (const inner of partsOf(contract, part)) walk(inner)
  }
  walk(schema)
}
