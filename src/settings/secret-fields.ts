/**
 * Where secrets are in settings: the schema marks members as secret, and this walks a value along its schema.
 *
 * Every string under a secret member is a secret, so a map of headers is one for each header. The walk takes any
 * value, valid or not: what does not fit the schema is passed on for the validator to judge. The path of a secret
 * names members, with `*` for the keys of maps above the secret member, so a renamed MCP server keeps its tokens.
 */
import { isObject } from '../base/json.ts'
import { addressSecrets } from '../base/secret-address.ts'
import type { Schema, UnionSchema } from '../schema/define.ts'
import { isSecretSource } from '../schema/generated/secrets.ts'
import { registry, tagValues } from '../schema/registry.ts'
import { isToken } from './cipher.ts'
import { maskedParts } from './masked-parts.ts'
import type { SecretMap } from './secret-source.ts'
import { isSecretAddress, isWorthMasking } from './secret-values.ts'

/** The value with each of its secrets replaced; a secret that becomes nothing is left out. */
export function mapSecrets(type: string, value: unknown, map: SecretMap): unknown {
  return walkNamed(type, value, [], map)
}

/** The secret values that texts must not show, each once. */
export function secretsToMask(type: string, value: unknown): string[] {
  const found = new Set<string>()
  mapSecrets(type, value, (secret, path) => {
    const name = path.slice(path.lastIndexOf('.') + 1)
    // A member called `value` is the secret of an object that says so itself.
    const parts = name === 'value' || isWorthMasking(name, secret) ? maskedParts(secret) : addressSecrets(secret)
    for (const part of parts) found.add(part)
    return secret
  })
  return [...found]
}

type Path = readonly string[]

function walkNamed(name: string, value: unknown, path: Path, map: SecretMap): unknown {
  const schema = registry[name]
  if (schema === undefined) throw new RangeError(`No schema is named "${name}"`)
  switch (schema.type) {
    case 'alias':
      return walk(schema.of, value, path, map)
    case 'union': {
      const variant = variantOf(schema, value)
      return variant === undefined ? value : walkNamed(variant, value, path, map)
    }
    case 'object':
      return mapEntries(value, (member, content) => {
        const rule = Object.hasOwn(schema.members, member) ? schema.members[member] : undefined
        if (rule === undefined) return content
        const inner = [...path, member]
        if (rule.address) return mapAddress(content, inner, map)
        return rule.secret ? mapStrings(content, inner, map) : walk(rule.schema, content, inner, map)
      })
  }
}

function walk(schema: Schema, value: unknown, path: Path, map: SecretMap): unknown {
  switch (schema.type) {
    case 'reference':
      return walkNamed(schema.name, value, path, map)
    case 'nullable':
      return walk(schema.of, value, path, map)
    case 'either':
      // At most one of them is structured, and the others do nothing.
      return schema.of.reduce((current, choice) => walk(choice, current, path, map), value)
    case 'array':
      return Array.isArray(value) ? value.map((item) => walk(schema.items, item, path, map)) : value
    case 'map':
      return mapEntries(value, (_key, content) => walk(schema.values, content, [...path, '*'], map))
    default:
      return value
  }
}

/** A secret member: every string in it, however deep. A source of a secret says itself which of its parts are. */
function mapStrings(value: unknown, path: Path, map: SecretMap): unknown {
  if (isSecretSource(value)) return walkNamed('SecretSource', value, path, map)
  if (typeof value === 'string') return map(value, path.join('.'))
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, path, map)).filter((item) => item !== undefined)
  return mapEntries(value, (key, content) => mapStrings(content, [...path, key], map))
}

/**
 * An address that carries credentials is a secret as a whole; so is what stands for one. A token that does not open stays:
 * no request can be sent there, where without an address one would go to another place.
 */
function mapAddress(value: unknown, path: Path, map: SecretMap): unknown {
  if (typeof value !== 'string' || !isSecretAddress(value)) return value
  return map(value, path.join('.')) ?? (isToken(value) ? value : undefined)
}

/** Anything but an object stays as it is. */
function mapEntries(value: unknown, map: (key: string, content: unknown) => unknown): unknown {
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, content]) => [key, map(key, content)] as const)
  return Object.fromEntries(entries.filter(([, content]) => content !== undefined))
}

function variantOf(union: UnionSchema, value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  const tag = Object.hasOwn(value, union.tag) ? value[union.tag] : undefined
  if (tag === undefined || tag === null) {
    return union.untagged?.find(({ has }) => has === undefined || Object.hasOwn(value, has))?.variant
  }
  return union.variants.find((name) => {
    const variant = registry[name]
    return variant?.type === 'object' && tagValues(variant, union.tag).some((known) => known === tag)
  })
}
