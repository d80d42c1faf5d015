/**
 * Lists the issues of a value that a generated validator has refused.
 *
 * `check` finds an issue if and only if the generated validator refuses the value. An issue about a secret member does
 * not quote the member. Other secrets must be redacted before an issue is shown (`redactIssue`).
 */
import { AppError, type Issue } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type {
  ArraySchema, Definitions, MapSchema, Member, NamedSchema, NumberSchema, ObjectSchema, Schema, StringSchema,
  UnionSchema,
} from './spec/define.ts'
import { countMembers, hasLength, isDateTime, isNumber, isUuid } from './primitives.ts'
import { redacted } from './redact.ts'
import { registry, tagValues, type NamedType } from './registry.ts'
import {
  boundRule, dateTimeRule, literalRule, patternRule, plainRule, tagMissingRule, tagUnknownRule, tooFewRule,
  tooLongRule, tooManyMembersRule, tooManyRule, tooShortRule, uuidRule, type Rule,
} from './rules.ts'

/** The most issues in one response. */
export const issueLimit = 100

/** A named type with its generated validator and converter. */
export interface Checked<Input, Normal> extends NamedType {
  readonly is: (value: unknown) => value is Input
  readonly to: (input: Input) => Normal
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** Returns the value as `type.to` converts it, or the issues of an invalid value. */
export function parse<Input, Normal>(type: Checked<Input, Normal>, value: unknown): Parsed<Normal> {
  if (type.is(value)) return { ok: true, value: type.to(value) }
  return { ok: false, issues: check(type.name, value, type.definitions) }
}

/**
 * Lists the issues of `value` as the named type, in the order of the definition.
 * @param definitions those of the part (src/parts) that defines the type; undefined for a type of the core
 * @throws TypeError for an unknown type
 */
export function check(name: string, value: unknown, definitions?: Definitions): Issue[] {
  const walk: Walk = { issues: [], loc: [], secrets: 0, types: { ...registry, ...definitions } }
  checkNamed(find(name, walk), value, walk)
  return walk.issues
}

interface Walk {
  readonly issues: Issue[]
  readonly loc: (string | number)[]
  /** The number of secret members on the path `loc`. Above 0, issues do not show the value. */
  secrets: number
  readonly types: Definitions
}

type JsonObject = Readonly<Record<string, unknown>>

function find(name: string, { types }: Walk): NamedSchema {
  const schema = types[name]
  if (schema === undefined) throw new TypeError(`Cannot check a value: there is no type "${name}"`)
  return schema
}

function report(walk: Walk, rule: Rule, input: unknown): void {
  if (isFull(walk)) return
  walk.issues.push({ loc: [...walk.loc], ...rule, input: walk.secrets > 0 ? redacted : input })
}

function isFull(walk: Walk): boolean {
  return walk.issues.length >= issueLimit
}

function checkNamed(schema: NamedSchema, value: unknown, walk: Walk): void {
  switch (schema.type) {
    case 'object': return checkObject(schema, value, walk)
    case 'union': return checkUnion(schema, value, walk)
    case 'alias': return checkValue(schema.of, value, walk)
  }
}

function checkValue(schema: Schema, value: unknown, walk: Walk): void {
  switch (schema.type) {
    case 'string': return checkString(schema, value, walk)
    case 'integer': case 'number': return checkNumber(schema, value, walk)
    case 'boolean':
      if (typeof value !== 'boolean') report(walk, plainRule('bool_type'), value)
      return
    case 'constant':
      if (value !== schema.value) report(walk, literalRule([schema.value]), value)
      return
    case 'enumeration':
      if (!schema.values.some((known) => known === value)) report(walk, literalRule(schema.values), value)
      return
    case 'nullable':
      if (value !== null) checkValue(schema.of, value, walk)
      return
    case 'either': return checkEither(schema.of, value, walk)
    case 'open':
      if (!isObject(value)) report(walk, plainRule('dict_type'), value)
      return
    case 'array': return checkArray(schema, value, walk)
    case 'map': return checkMap(schema, value, walk)
    case 'reference': return checkNamed(find(schema.name, walk), value, walk)
    case 'json':
  }
}

function checkString(schema: StringSchema, value: unknown, walk: Walk): void {
  if (typeof value !== 'string') return report(walk, stringTypeRule(schema), value)
  const { minLength = 0, maxLength = Infinity, pattern, format } = schema
  if (!hasLength(value, minLength, Infinity)) report(walk, tooShortRule(minLength), value)
  else if (!hasLength(value, 0, maxLength)) report(walk, tooLongRule(maxLength), value)
  else if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) report(walk, patternRule(pattern), value)
  else if (format === 'uuid' && !isUuid(value)) report(walk, uuidRule(), value)
  else if (format === 'date-time' && !isDateTime(value)) report(walk, dateTimeRule(), value)
}

function stringTypeRule({ format }: StringSchema): Rule {
  if (format === 'uuid') return plainRule('uuid_type')
  return plainRule(format === 'date-time' ? 'datetime_type' : 'string_type')
}

function checkNumber(schema: NumberSchema, value: unknown, walk: Walk): void {
  const rule = numberTypeRule(schema, value) ?? (isNumber(value) ? boundRule(value, schema) : undefined)
  if (rule !== undefined) report(walk, rule, value)
}

function numberTypeRule({ type }: NumberSchema, value: unknown): Rule | undefined {
  if (typeof value !== 'number') return plainRule(type === 'integer' ? 'int_type' : 'float_type')
  if (!isNumber(value)) return plainRule('finite_number')
  if (type === 'number' || Number.isSafeInteger(value)) return undefined
  return plainRule(Number.isInteger(value) ? 'int_parsing_size' : 'int_from_float')
}

/** Checks a value against the first schema of its JSON type. If no schema has this type, checks it against each. */
function checkEither(branches: readonly Schema[], value: unknown, walk: Walk): void {
  const branch = branches.find((candidate) => jsonTypeOf(candidate) === jsonTypeOfValue(value))
  for (const explaining of branch === undefined ? branches : [branch]) checkValue(explaining, value, walk)
}

function jsonTypeOf(schema: Schema): string {
  switch (schema.type) {
    case 'integer': return 'number'
    case 'constant': case 'enumeration': return 'string'
    case 'map': case 'open': case 'reference': return 'object'
    default: return schema.type
  }
}

function jsonTypeOfValue(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function checkArray(schema: ArraySchema, value: unknown, walk: Walk): void {
  if (schema.bareText !== undefined && typeof value === 'string') return
  if (!Array.isArray(value)) return report(walk, plainRule('list_type'), value)
  const items: readonly unknown[] = value
  const { minItems = 0, maxItems = Infinity } = schema
  if (items.length < minItems) return report(walk, tooFewRule(minItems, items.length), value)
  if (items.length > maxItems) return report(walk, tooManyRule(maxItems, items.length), value)
  for (let index = 0; index < items.length && !isFull(walk); index++) {
    checkAt(walk, index, () => checkValue(schema.items, items[index], walk))
  }
}

function checkMap(schema: MapSchema, value: unknown, walk: Walk): void {
  if (!isObject(value)) return report(walk, plainRule('dict_type'), value)
  const { maxProperties = Infinity } = schema
  const count = countMembers(value)
  if (count > maxProperties) return report(walk, tooManyMembersRule(maxProperties, count), value)
  const pattern = schema.keys === undefined ? undefined : new RegExp(schema.keys, 'u')
  for (const [key, item] of Object.entries(value)) {
    if (isFull(walk)) return
    checkAt(walk, key, () => {
      if (pattern !== undefined && !pattern.test(key)) report(walk, patternRule(pattern.source), key)
      checkValue(schema.values, item, walk)
    })
  }
}

function checkUnion(schema: UnionSchema, value: unknown, walk: Walk): void {
  if (!isObject(value)) return report(walk, plainRule('model_attributes_type'), value)
  const tag = value[schema.tag]
  const tags = schema.variants.map((variant) => ({ variant, values: tagValues(findObject(variant, walk), schema.tag) }))
  const variant = tag === undefined
    ? untaggedVariant(schema, value)
    : tags.find((candidate) => candidate.values.some((known) => known === tag))?.variant
  if (variant !== undefined) return checkObject(findObject(variant, walk), value, walk)
  if (tag === undefined) return report(walk, tagMissingRule(schema.tag), value)
  report(walk, tagUnknownRule(schema.tag, tag, tags.flatMap((candidate) => candidate.values)), value)
}

function untaggedVariant({ untagged = [] }: UnionSchema, value: JsonObject): string | undefined {
  return untagged.find(({ has }) => has === undefined || value[has] !== undefined)?.variant
}

function findObject(name: string, walk: Walk): ObjectSchema {
  const schema = find(name, walk)
  if (schema.type !== 'object') throw new TypeError(`The variant "${name}" of a union must be an object`)
  return schema
}

function checkObject(schema: ObjectSchema, value: unknown, walk: Walk): void {
  if (!isObject(value)) return report(walk, plainRule('model_attributes_type'), value)
  for (const [name, member] of Object.entries(schema.members)) {
    if (isFull(walk)) return
    checkAt(walk, name, () => checkMember(schema, name, member, value, walk))
  }
  if (schema.unknown !== 'refused') return
  for (const name of Object.keys(value)) {
    if (isFull(walk)) return
    if (Object.hasOwn(schema.members, name)) continue
    checkAt(walk, name, () => report(walk, plainRule('extra_forbidden'), value[name]))
  }
}

function checkMember(schema: ObjectSchema, name: string, member: Member, object: JsonObject, walk: Walk): void {
  const value = object[name]
  if (value === undefined) {
    if (member.presence === 'required') report(walk, plainRule('missing'), withoutSecrets(schema, object))
    return
  }
  if (value === null && (member.presence === 'optional' || (member.presence === 'default' && member.orNull))) return
  if (member.secret === true) walk.secrets++
  checkValue(member.schema, value, walk)
  if (member.secret === true) walk.secrets--
}

/** Returns the input of an issue about a missing member: the object with its secret members redacted. */
function withoutSecrets(schema: ObjectSchema, object: JsonObject): JsonObject {
  const secrets = Object.entries(schema.members)
    .filter(([name, member]) => member.secret === true && object[name] !== undefined)
    .map(([name]): [string, unknown] => [name, redacted])
  return secrets.length === 0 ? object : { ...object, ...Object.fromEntries(secrets) }
}

function checkAt(walk: Walk, place: string | number, body: () => void): void {
  walk.loc.push(place)
  body()
  walk.loc.pop()
}

/**
 * Validates an argument from a program that uses this server as a library, and returns it as `type.to` converts it.
 * @throws AppError `invalid_input` with the issues
 */
export function checked<Input, Normal>(type: Checked<Input, Normal>, value: unknown): Normal {
  const result = parse(type, value)
  if (result.ok) return result.value
  throw new AppError('invalid_input', 'The request is not valid', { issues: result.issues })
}
