/** The form of an entry of the provider table: a test, words for error messages, and a JSON Schema (draft 2020-12). */
import { isObject, type JsonObject } from '../base/json.ts'
import { blankProvider, type LoginChoice, type LoginRule, type Provider, type ProviderModes } from './provider.ts'

/** The rule for a member's value: the words for error messages, the test and the JSON Schema. */
interface Rule {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
  readonly schema: JsonObject
}
type Shape<T> = { readonly [Member in keyof T]-?: Rule }

const isText = (value: unknown): boolean => typeof value === 'string'
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)

const text: Rule = { expected: 'a string', holds: isText, schema: { type: 'string' } }
const name: Rule = {
  expected: 'a string that is not empty',
  holds: (value) => isText(value) && value !== '',
  schema: { type: 'string', minLength: 1 },
}
const texts: Rule = { expected: 'an array of strings', holds: areTexts, schema: { type: 'array', items: text.schema } }
const flag: Rule = {
  expected: 'true or false',
  holds: (value) => typeof value === 'boolean',
  schema: { type: 'boolean' },
}
const pathShape = /^(?!\/)(?!.*\.\.)./
const path: Rule = {
  expected: 'a relative path without ".."',
  holds: (value) => typeof value === 'string' && pathShape.test(value),
  schema: { type: 'string', pattern: pathShape.source },
}
const words: Rule = {
  expected: 'an array of strings, the first of which is not empty',
  holds: (value) => Array.isArray(value) && areTexts(value) && name.holds(value[0]),
  schema: { type: 'array', prefixItems: [name.schema], items: text.schema, minItems: 1 },
}

function byName(rule: Rule, expected: string): Rule {
  return {
    expected,
    holds: (value) => isObject(value) && Object.values(value).every(rule.holds),
    schema: { type: 'object', additionalProperties: rule.schema },
  }
}

function oneOf(...values: readonly string[]): Rule {
  return {
    expected: `one of ${values.join(', ')}`,
    holds: (value) => values.some((known) => known === value),
    schema: { enum: [...values] },
  }
}

function orNull(rule: Rule): Rule {
  return {
    expected: `${rule.expected} or null`,
    holds: (value) => value === null || rule.holds(value),
    schema: { anyOf: [rule.schema, { type: 'null' }] },
  }
}

function objectOf<T>(shape: Shape<T>): Rule {
  return {
    expected: `an object of ${Object.keys(shape).join(', ')}`,
    holds: (value) => unmetExpectations(value, shape).length === 0,
    schema: schemaOf(shape),
  }
}

const optionalTexts: Rule = { ...texts, holds: (value) => value === undefined || areTexts(value) }
const modesShape: Shape<ProviderModes> = {
  asking: name,
  open: name,
  moreOpen: texts,
  closed: optionalTexts,
  unasked: optionalTexts,
}
const choiceShape: Shape<LoginChoice> = { file: path, path: texts, login: texts }
const loginShape: Shape<LoginRule> = {
  folder: path,
  file: path,
  followsConfigDir: flag,
  member: orNull(name),
  accessTokens: texts,
  refreshTokens: texts,
  expiry: orNull(name),
  tokenVariables: texts,
  keychain: flag,
  choice: orNull(objectOf(choiceShape)),
}
const providerShape: Shape<Provider> = {
  name,
  displayName: name,
  command: words,
  packageName: text,
  version: text,
  binary: text,
  programs: byName(path, 'an object of relative paths without ".."'),
  installCommand: text,
  prefix: name,
  apiKeyVariable: text,
  otherKeyVariables: texts,
  baseUrlVariable: text,
  configDirVariable: text,
  dataDirVariable: text,
  homeVariable: name,
  variables: texts,
  defaults: byName(text, 'an object of strings'),
  loginCommand: text,
  login: orNull(objectOf(loginShape)),
  baseUrlVia: oneOf('environment', 'codex-config', 'gateway'),
  publicBaseUrl: orNull(name),
  configDirStripsKey: flag,
  keyMethod: orNull(name),
  loginMethod: orNull(name),
  defaultModel: orNull(name),
  models: texts,
  modes: orNull(objectOf(modesShape)),
}

export function isProvider(value: unknown): value is Provider {
  return unmetExpectationsOf(value).length === 0
}

/** Returns the words of an error after "expected": a text for each unknown, missing or wrong member, or `an object`. */
export function unmetExpectationsOf(provider: unknown): string[] {
  return unmetExpectations(provider, providerShape)
}

export const providerNameShape = /^[a-z0-9][a-z0-9._-]{0,63}$/

/**
 * Returns the JSON Schema of a providers file. No member of an entry is required, because an entry may change a
 * built-in provider.
 */
export function providersSchema(): JsonObject {
  const { name: _, ...members } = providerShape
  const blank: JsonObject = JSON.parse(JSON.stringify(blankProvider('')))
  const properties = Object.entries(members).map(([member, { schema }]) => {
    const hasDefault = Object.hasOwn(blank, member) && member !== 'displayName'
    return [member, hasDefault ? { ...schema, default: blank[member] } : schema]
  })
  return {
    '$schema': 'https://json-schema.org/draft/2020-12/schema',
    title: 'A file for --providers: entries of the provider table, by name',
    type: 'object',
    propertyNames: { pattern: providerNameShape.source },
    additionalProperties: { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false },
  }
}

function schemaOf<T>(shape: Shape<T>): JsonObject {
  const properties = Object.entries<Rule>(shape).map(([member, { schema }]) => [member, schema])
  const required = Object.entries<Rule>(shape).flatMap(([member, { holds }]) => (holds(undefined) ? [] : [member]))
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
}

function unmetExpectations<T>(value: unknown, shape: Shape<T>): string[] {
  if (!isObject(value)) return ['an object']
  const rules = new Map<string, Rule>(Object.entries(shape))
  const unknown = Object.keys(value).filter((member) => !rules.has(member))
  const wrong = [...rules].filter(([member, rule]) => !rule.holds(value[member]))
  return [
    ...unknown.map((member) => `no member ${JSON.stringify(member)}`),
    ...wrong.map(([member, rule]) => `"${member}" to be ${rule.expected}`),
  ]
}
