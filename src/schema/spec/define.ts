/**
 * The language in which the definitions of the wire contract are written.
 *
 * A definition is plain data, built by the functions below. `scripts/generate` makes types, validators (`isX`),
 * converters (`toX`) and the OpenAPI description from it. Types refer to each other by name, so their order is free.
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
  /** A value of one of several JSON types. */
  | { readonly type: 'either'; readonly of: readonly Schema[] }
  /** Any JSON value, null too. */
  | { readonly type: 'json' }
  /** Any JSON object, kept unchanged. With `like`, later code reads the object as the type of that name. */
  | { readonly type: 'open'; readonly like?: string }
  | { readonly type: 'reference'; readonly name: string }

export interface StringSchema {
  readonly type: 'string'
  /** `minLength` and `maxLength` count code points, as JSON Schema does. */
  readonly minLength?: number
  readonly maxLength?: number
  /** The source of a regular expression. It must take time linear in the length of the text. */
  readonly pattern?: string
  readonly format?: 'uuid' | 'date-time'
}

export interface NumberSchema {
  /** An `integer` must be a safe integer (ECMA-262, Number.isSafeInteger), a `number` must be finite. */
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
  /** The name of an object type with a member `text`. A bare string then stands for an array with one such object. */
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
  /** True for a secret: a validation issue about the value does not show the value. */
  readonly secret?: true
  /** True for a URL: the value is a secret if it contains credentials (base/secret-address.ts). */
  readonly address?: true
  /** Further members of the JSON Schema in the OpenAPI description, for a rule that the validator does not check. */
  readonly stated?: Readonly<Record<string, unknown>>
  /** True for a member that no code uses. If a client sets it, `X-Ignored-Members` in the response names it. */
  readonly unread?: true
} & (
  | { readonly presence: 'required' }
  /** The member may be missing or null, with the same meaning. The converter leaves it out in both cases. */
  | { readonly presence: 'optional' }
  /** The member may be missing. A missing member and null differ. */
  | { readonly presence: 'omittable' }
  /** The member may be missing in the input. The server sets it. */
  | { readonly presence: 'assigned' }
  /** A missing member has the default. With `orNull`, null means `whenNull`, or the default if `whenNull` is absent. */
  | { readonly presence: 'default'; readonly default: unknown; readonly orNull: boolean; readonly whenNull?: string }
)

export type Members = Readonly<Record<string, Member>>

export interface ObjectSchema {
  readonly type: 'object'
  readonly doc: string
  readonly members: Members
  /**
   * The treatment of an unlisted member: `refused` makes the object invalid, `dropped` leaves the member out of the
   * result of the converter, `kept` keeps it unchanged.
   */
  readonly unknown: 'refused' | 'dropped' | 'kept'
  /** True for an object that only the server sends. The generator makes only its type. */
  readonly outgoing?: true
}

export interface UnionSchema {
  readonly type: 'union'
  readonly doc: string
  /** The member whose constant or enumeration identifies the variant. */
  readonly tag: string
  /** Names of object types. In `Event`, add names at the end only: logs on disk store the positions of its names. */
  readonly variants: readonly string[]
  readonly untagged?: Untagged
}

/** For a value without the tag: the first variant counts whose `has` is absent, or names a member of the value. */
export type Untagged = readonly { readonly variant: string; readonly has?: string }[]

/** A named type that becomes a type alias in TypeScript. */
export interface AliasSchema {
  readonly type: 'alias'
  readonly doc: string
  readonly of: Schema
}

export type NamedSchema = ObjectSchema | UnionSchema | AliasSchema

export type Definitions = Readonly<Record<string, NamedSchema>>

export const string: Schema = { type: 'string' }
export const integer: Schema = { type: 'integer' }
export const number: Schema = { type: 'number' }
export const boolean: Schema = { type: 'boolean' }
export const json: Schema = { type: 'json' }
export const openObject: Schema = { type: 'open' }

/** Makes the schema of an open object. Later code reads the object as the type with the name `like`. */
export function openLike(like: string): Schema {
  return { type: 'open', like }
}
/** A UUID, dashed or as 32 hex digits, in any case (RFC 9562, section 4). */
export const uuid: Schema = { type: 'string', format: 'uuid' }
/** An ISO 8601 time with any offset. A time without an offset is UTC. */
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

/** Makes a member that may be null or missing, with the same meaning. */
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

/** Makes a member with a default. Null means the default too. */
export function nullDefaultTo(value: unknown, schema: Schema, doc = ''): Member {
  return { presence: 'default', default: value, orNull: true, schema, doc }
}

/** Makes a member with the default `value`. Null means the text `whenNull`. */
export function nullMeans(whenNull: string, value: string, schema: Schema, doc = ''): Member {
  return { presence: 'default', default: value, orNull: true, whenNull, schema, doc }
}

/** Makes a member that may be null or missing. The converter sets a missing member to null. */
export function orNull(schema: Schema, doc = ''): Member {
  return defaultTo(null, nullable(schema), doc)
}

export function secret(member: Member): Member {
  return { ...member, secret: true }
}

export function unread(member: Member): Member {
  return { ...member, unread: true }
}

/** Returns the member with a rule for its OpenAPI description. Later code checks the rule; the validator does not. */
export function stated(rule: Readonly<Record<string, unknown>>, member: Member): Member {
  return { ...member, stated: rule }
}

/** Makes a required member for the absolute path of a file or folder. The handler refuses a relative path with 400. */
export function absolutePath(doc: string): Member {
  return stated({ pattern: '^/[^\\u0000]*$' }, required(stringOf({ maxLength: 4096 }), doc))
}

export function address(member: Member): Member {
  return { ...member, address: true }
}

/** Makes an object type that refuses unknown members. */
export function closed(doc: string, members: Members): ObjectSchema {
  return { type: 'object', doc, members, unknown: 'refused' }
}

/** Makes an object type that drops unknown members. */
export function tolerant(doc: string, members: Members): ObjectSchema {
  return { type: 'object', doc, members, unknown: 'dropped' }
}

/** Makes the type of an object that only the server sends. */
export function response(doc: string, members: Members): ObjectSchema {
  return { ...tolerant(doc, members), outgoing: true }
}

/** Makes an object type that keeps unknown members unchanged. */
export function extensible(doc: string, members: Members): ObjectSchema {
  return { type: 'object', doc, members, unknown: 'kept' }
}

export function union(doc: string, tag: string, variants: readonly string[], untagged?: Untagged): UnionSchema {
  return { type: 'union', doc, tag, variants, ...(untagged === undefined ? {} : { untagged }) }
}

export function alias(doc: string, of: Schema): NamedSchema {
  return { type: 'alias', doc, of }
}

/** Adds the member `kind` with the name of the type as the first member of each object type. */
export function kinds(table: Readonly<Record<string, ObjectSchema>>): Readonly<Record<string, ObjectSchema>> {
  const entries = Object.entries(table).map(([name, schema]): [string, ObjectSchema] => {
    return [name, { ...schema, members: { kind: required(constant(name)), ...schema.members } }]
  })
  return Object.fromEntries(entries)
}

/** One operation of the REST interface, as OpenAPI describes it. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly tag: string
  readonly summary: string
  /** The name of an object type whose members are the query parameters. */
  readonly query?: string
  /** True when the operation accepts the header Idempotency-Key. */
  readonly takesKey?: true
  readonly request?: Schema
  readonly isBodyOptional?: true
  /** The names of the file fields, for an operation that takes a form (`multipart/form-data`). */
  readonly form?: readonly string[]
  readonly responses: Readonly<Record<number, ResponseSchema>>
  /** The name of the type of error bodies. Default: `ErrorDetail`, and `HTTPValidationError` for an invalid request. */
  readonly error?: string
}

export interface ResponseSchema {
  readonly doc: string
  readonly body?: Schema
  /** The media type of a body that is not JSON. */
  readonly mediaType?: string
}
