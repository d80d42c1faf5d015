/**
 * The schema language in which the wire contract is defined.
 *
 * A definition is plain data, built by the functions below so that the files in `spec/` read like the tables of the
 * specification. It has three readers: `scripts/generate` prints types, fast validators and OpenAPI from it, `check`
 * explains errors with it, and tests derive their cases from it. Nothing is validated here. Types refer to each other
 * by name, so definitions may stand in any order.
 */

export type Schema =
  | StringSchema
  | NumberSchema
  | { readonly type: 'boolean' }
  | { readonly type: 'constant'; readonly value: string }
  | { readonly type: 'enumeration'; readonly values: readonly string[] }
  | ArraySchema
  | MapSchema
  | { readonly type: 'nullable'; readonly of: Schema }
  /** A value of one of several JSON types, such as a string or an array. */
  | { readonly type: 'either'; readonly of: readonly Schema[] }
  /** Any JSON value, null too. */
  | { readonly type: 'json' }
  /** Any JSON object, kept unchanged. `like` names the type that later code reads it as. */
  | { readonly type: 'open'; readonly like?: string }
  | { readonly type: 'reference'; readonly name: string }

export interface StringSchema {
  readonly type: 'string'
  /** Lengths count characters (code points), as JSON Schema does. */
  readonly minLength?: number
  readonly maxLength?: number
  /** The source of a regular expression, which must take time linear in the text. */
  readonly pattern?: string
  readonly format?: 'uuid' | 'date-time'
}

export interface NumberSchema {
  /** An integer is a safe one (ECMA-262, Number.isSafeInteger), a number is finite. */
  readonly type: 'integer' | 'number'
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
}

export interface ArraySchema {
  readonly type: 'array'
  readonly items: Schema
  readonly minItems?: number
  readonly maxItems?: number
  /**
   * The object type that a bare string stands for. The string then counts as an array with one such object, whose
   * member `text` it becomes.
   */
  readonly bareText?: string
}

export interface MapSchema {
  readonly type: 'map'
  readonly values: Schema
  /** The source of a regular expression that every key must match. */
  readonly keys?: string
  readonly maxProperties?: number
}

/** The schema of an object's member, and whether the member may be missing. */
export type Member = {
  readonly schema: Schema
  readonly doc: string
  /** The value is a secret: an issue never shows it. */
  readonly secret?: true
  /** The value is an address, which is a secret if it has credentials in it (base/secret-address). */
  readonly address?: true
  /** Nothing acts on the value, which is at most kept and shown. A client that sets it is told so (`ignored`). */
  readonly unread?: true
} & (
  | { readonly presence: 'required' }
  /** May be missing or null, with the same meaning. The normal form leaves it out then. */
  | { readonly presence: 'optional' }
  /** May be missing, which differs from null. The normal form keeps the member as it was sent. */
  | { readonly presence: 'omittable' }
  /** May be missing on input. The server supplies it, so the normal form always has it. */
  | { readonly presence: 'assigned' }
  /** The default, in input form. With `orNull`, null also means the default, or `whenNull` if that is given. */
  | { readonly presence: 'default'; readonly default: unknown; readonly orNull: boolean; readonly whenNull?: string }
)

export type Members = Readonly<Record<string, Member>>

export interface ObjectSchema {
  readonly type: 'object'
  readonly doc: string
  readonly members: Members
  /**
   * The treatment of a member that is not listed: `refused` is an error, `dropped` leaves it out of the normal form,
   * `kept` keeps it unchanged.
   */
  readonly unknown: 'refused' | 'dropped' | 'kept'
  /** Only the server makes this object. It gets a type, but no validator and no converter. */
  readonly outgoing?: true
}

export interface UnionSchema {
  readonly type: 'union'
  readonly doc: string
  /** The member whose constant or enumeration identifies the variant. */
  readonly tag: string
  /** Names of object types. Add new names at the end only. */
  readonly variants: readonly string[]
  readonly untagged?: Untagged
}

/** The variant of a value without the tag: the first whose member `has` is present, or that has no `has`. */
export type Untagged = readonly { readonly variant: string; readonly has?: string }[]

/** A named type that becomes a type alias in TypeScript, not an interface. */
export interface AliasSchema {
  readonly type: 'alias'
  readonly doc: string
  readonly of: Schema
}

/** A type that other types refer to by name. */
export type NamedSchema = ObjectSchema | UnionSchema | AliasSchema

export type Definitions = Readonly<Record<string, NamedSchema>>

export const string: Schema = { type: 'string' }
export const integer: Schema = { type: 'integer' }
export const number: Schema = { type: 'number' }
export const boolean: Schema = { type: 'boolean' }
export const json: Schema = { type: 'json' }
export const openObject: Schema = { type: 'open' }

/** An open object that later code reads as the named type, whole or in part. */
export function openLike(like: string): Schema {
  return { type: 'open', like }
}
/** A UUID, dashed or as 32 hex digits, in any case (RFC 9562, section 4). */
export const uuid: Schema = { type: 'string', format: 'uuid' }
/** An ISO 8601 time with any offset; none means UTC. */
export const dateTime: Schema = { type: 'string', format: 'date-time' }

export function stringOf(rules: Omit<StringSchema, 'type'>): Schema {
  return { type: 'string', ...rules }
}

export function integerOf(rules: Omit<NumberSchema, 'type'>): Schema {
  return { type: 'integer', ...rules }
}

export function numberOf(rules: Omit<NumberSchema, 'type'>): Schema {
  return { type: 'number', ...rules }
}

export function constant(value: string): Schema {
  return { type: 'constant', value }
}

export function oneOf(...values: string[]): Schema {
  return { type: 'enumeration', values }
}

export function arrayOf(items: Schema, rules: Omit<ArraySchema, 'type' | 'items'> = {}): Schema {
  return { type: 'array', items, ...rules }
}

export function mapOf(values: Schema, rules: Omit<MapSchema, 'type' | 'values'> = {}): Schema {
  return { type: 'map', values, ...rules }
}

export function nullable(of: Schema): Schema {
  return { type: 'nullable', of }
}

export function either(...of: Schema[]): Schema {
  return { type: 'either', of }
}

export function ref(name: string): Schema {
  return { type: 'reference', name }
}

export function required(schema: Schema, doc = ''): Member {
  return { presence: 'required', schema, doc }
}

/** A member that is null or absent with the same meaning: `T?` in the contract. */
export function optional(schema: Schema, doc = ''): Member {
  return { presence: 'optional', schema, doc }
}

export function omittable(schema: Schema, doc = ''): Member {
  return { presence: 'omittable', schema, doc }
}

export function assigned(schema: Schema, doc = ''): Member {
  return { presence: 'assigned', schema, doc }
}

export function defaultTo(value: unknown, schema: Schema, doc = ''): Member {
  return { presence: 'default', default: value, orNull: false, schema, doc }
}

/** A member with a default. Null means the default too. */
export function nullDefaultTo(value: unknown, schema: Schema, doc = ''): Member {
  return { presence: 'default', default: value, orNull: true, schema, doc }
}

/** A member with a default. Null means the text `whenNull` instead. */
export function nullMeans(whenNull: string, value: string, schema: Schema, doc = ''): Member {
  return { presence: 'default', default: value, orNull: true, whenNull, schema, doc }
}

/** A member that may be missing. Unlike `optional`, the normal form then has null. */
export function orNull(schema: Schema, doc = ''): Member {
  return defaultTo(null, nullable(schema), doc)
}

export function secret(member: Member): Member {
  return { ...member, secret: true }
}

export function unread(member: Member): Member {
  return { ...member, unread: true }
}

export function address(member: Member): Member {
  return { ...member, address: true }
}

/** An object that refuses members it does not know. */
export function closed(doc: string, members: Members): ObjectSchema {
  return { type: 'object', doc, members, unknown: 'refused' }
}

/** An object whose unknown members are ignored. */
export function tolerant(doc: string, members: Members): ObjectSchema {
  return { type: 'object', doc, members, unknown: 'dropped' }
}

/** An object that only the server makes. */
export function response(doc: string, members: Members): ObjectSchema {
  return { ...tolerant(doc, members), outgoing: true }
}

/** An object whose unknown members are kept as they are. */
export function extensible(doc: string, members: Members): ObjectSchema {
  return { type: 'object', doc, members, unknown: 'kept' }
}

export function union(doc: string, tag: string, variants: readonly string[], untagged?: Untagged): UnionSchema {
  return { type: 'union', doc, tag, variants, ...(untagged === undefined ? {} : { untagged }) }
}

export function alias(doc: string, of: Schema): NamedSchema {
  return { type: 'alias', doc, of }
}

/** Makes object types that are identified by their member `kind`, which is added as their first member. */
export function kinds(table: Readonly<Record<string, ObjectSchema>>): Readonly<Record<string, ObjectSchema>> {
  const entries = Object.entries(table).map(([name, schema]): [string, ObjectSchema] => {
    return [name, { ...schema, members: { kind: required(constant(name)), ...schema.members } }]
  })
  return Object.fromEntries(entries)
}

/** One operation of the REST interface, as OpenAPI describes it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path pattern, with parameters as `{name}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  /** The name of an object type whose members are the query parameters. */
  readonly query?: string
  /** True when the operation accepts the header Idempotency-Key. */
  readonly takesKey?: true
  readonly request?: Schema
  /** True when the body may be missing. */
  readonly isBodyOptional?: true
  /** The names of the files in a form that it takes (`multipart/form-data`). */
  readonly form?: readonly string[]
  readonly responses: Readonly<Record<number, ResponseSchema>>
  /** The name of the schema of its error bodies. Default: `ErrorDetail`, and `HTTPValidationError` with status 422. */
  readonly error?: string
}

export interface ResponseSchema {
  readonly doc: string
  /** The schema of a JSON body. */
  readonly body?: Schema
  /** The media type of a body that is not JSON. */
  readonly mediaType?: string
}
