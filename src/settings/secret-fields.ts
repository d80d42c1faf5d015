/**
 * Finds the secrets in a value by its schema, which marks members as secret or as an address.
 *
 * Every string below a secret member is a secret, except in a `SecretSource`, which has a schema of its own. A sealed
 * (encrypted) secret opens only with the path that it was sealed with, such as `llm.api_key`.
 */
import { isObject } from '../base/json.ts'
import { addressSecrets } from '../base/secret-address.ts'
import type { Definitions, Schema, UnionSchema } from '../schema/spec/define.ts'
import { isSecretSource } from '../schema/generated/secrets.ts'
import { registry, tagValues, type NamedType } from '../schema/registry.ts'
import { isSealed, type Cipher } from './cipher.ts'
import { maskedParts } from './masked-parts.ts'
import type { SecretMap } from './secret-source.ts'
import { isSecretAddress, isWorthMasking } from './secret-values.ts'

/** The name of a schema type of the core, or the name and the definitions of a part's schema type. */
export type SecretType = string | NamedType

/**
 * Returns the value with each secret replaced by the result of `map`. A secret for which `map` returns undefined is
 * removed, but a sealed address stays.
 */
export function mapSecrets(type: SecretType, value: unknown, map: SecretMap): unknown {
  if (typeof type === 'string') return walkNamed(type, value, [], { map, types: registry })
  return walkNamed(type.name, value, [], { map, types: { ...registry, ...type.definitions } })
}

/** Returns the value with each secret sealed: the form for files, and for the view `encrypted`. */
export function sealSecrets(type: SecretType, value: unknown, cipher: Cipher): unknown {
  return mapSecrets(type, value, (secret, path) => cipher.seal(secret, path))
}

/**
 * Returns a stored value with each token opened; undefined when a token does not open. A plain secret stays, because a
 * user may have written it by hand.
 */
export function openSecrets(type: SecretType, stored: unknown, cipher: Cipher): unknown {
  let isOpen = true
  const plain = mapSecrets(type, stored, (secret, path) => {
    const opened = isSealed(secret) ? cipher.open(secret, path) : secret
    isOpen &&= opened !== undefined
    return opened
  })
  return isOpen ? plain : undefined
}

/** Returns the texts to mask for the secrets of a value, each once. */
export function secretsToMask(type: SecretType, value: unknown): string[] {
  const found = new Set<string>()
  mapSecrets(type, value, (secret, path) => {
    const name = path.slice(path.lastIndexOf('.') + 1)
    // A member named `value` is always masked: the name tells nothing, but the member is usually a credential.
    const parts = name === 'value' || isWorthMasking(name, secret) ? maskedParts(secret) : addressSecrets(secret)
    for (const part of parts) found.add(part)
    return secret
  })
  return [...found]
}

type Path = readonly string[]

interface Walk {
  readonly map: SecretMap
  readonly types: Definitions
}

function walkNamed(name: string, value: unknown, path: Path, by: Walk): unknown {
  const schema = by.types[name]
  if (schema === undefined) throw new RangeError(`No schema is named "${name}"`)
  switch (schema.type) {
    case 'alias':
      return walk(schema.of, value, path, by)
    case 'union': {
      const variant = variantOf(schema, value, by.types)
      return variant === undefined ? value : walkNamed(variant, value, path, by)
    }
    case 'object':
      return mapEntries(value, (member, content) => {
        const rule = Object.hasOwn(schema.members, member) ? schema.members[member] : undefined
        if (rule === undefined) return content
        const inner = [...path, member]
        if (rule.address) return mapAddress(content, inner, by.map)
        return rule.secret ? mapStrings(content, inner, by) : walk(rule.schema, content, inner, by)
      })
  }
}

function walk(schema: Schema, value: unknown, path: Path, by: Walk): unknown {
  switch (schema.type) {
    case 'reference':
      return walkNamed(schema.name, value, path, by)
    case 'nullable':
      return walk(schema.of, value, path, by)
    case 'either':
      // Walks all types of the union, one after another. Each changes only values of its own JSON type.
      return schema.of.reduce((current, choice) => walk(choice, current, path, by), value)
    case 'array':
      return Array.isArray(value) ? value.map((item) => walk(schema.items, item, path, by)) : value
    case 'map':
      return mapEntries(value, (_key, content) => walk(schema.values, content, [...path, '*'], by))
    default:
      return value
  }
}

/** Maps all strings in a secret member, at any depth. In a `SecretSource`, maps only the secrets. */
function mapStrings(value: unknown, path: Path, by: Walk): unknown {
  if (isSecretSource(value)) return walkNamed('SecretSource', value, path, by)
  if (typeof value === 'string') return by.map(value, path.join('.'))
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, path, by)).filter((item) => item !== undefined)
  return mapEntries(value, (key, content) => mapStrings(content, [...path, key], by))
}

/**
 * Maps an address that is sealed, redacted or has credentials, and returns any other value unchanged. If `map` returns
 * undefined, a sealed address stays: without an address, requests would go to the default address.
 */
function mapAddress(value: unknown, path: Path, map: SecretMap): unknown {
  if (typeof value !== 'string' || !isSecretAddress(value)) return value
  return map(value, path.join('.')) ?? (isSealed(value) ? value : undefined)
}

/** Returns an object with its members mapped, without undefined members; any other value unchanged. */
function mapEntries(value: unknown, map: (key: string, content: unknown) => unknown): unknown {
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, content]) => [key, map(key, content)] as const)
  return Object.fromEntries(entries.filter(([, content]) => content !== undefined))
}

function variantOf(union: UnionSchema, value: unknown, types: Definitions): string | undefined {
  if (!isObject(value)) return undefined
  const tag = Object.hasOwn(value, union.tag) ? value[union.tag] : undefined
  if (tag === undefined || tag === null) {
    return union.untagged?.find(({ has }) => has === undefined || Object.hasOwn(value, has))?.variant
  }
  return union.variants.find((name) => {
    const variant = types[name]
    return variant?.type === 'object' && tagValues(variant, union.tag).some((known) => known === tag)
  })
}
