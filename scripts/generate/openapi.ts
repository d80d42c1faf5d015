/**
 * Prints the description of the REST interface as OpenAPI 3.1 (JSON Schema 2020-12).
 *
 * Title, version, the absence of servers and the empty security requirement are the specification's. A component is the
 * input form of a type, or, for a type that only leaves the server, its normal form; a variant that stands for several
 * kinds becomes one component for each. Only types that an operation reaches are listed, in alphabetical order.
 */
import {
  either, ref, type Endpoint, type Member, type NamedSchema, type NumberSchema, type ObjectSchema, type ResponseSchema,
  type Schema, type UnionSchema,
} from '../../src/schema/spec/define.ts'
import { choicesOf, find, narrow, type Contract } from './contract.ts'

type Json = Readonly<Record<string, unknown>>

export interface OpenApiSource {
  readonly endpoints: readonly Endpoint[]
  /** Schemas of path parameters by name, or by the path up to them; all others are strings. */
  readonly pathParameters: Readonly<Record<string, Schema>>
}

export function printOpenApi({ endpoints, pathParameters }: OpenApiSource, contract: Contract): string {
  const reached = new Map<string, NamedSchema>()
  const printer: Printer = {
    contract,
    reference(name, schema = find(contract, name)) {
      reached.set(name, schema)
      return { $ref: `#/components/schemas/${name}` }
    },
  }
  const paths: Record<string, Record<string, Json>> = {}
  for (const endpoint of endpoints) {
    const operation = printOperation(endpoint, pathParameters, printer)
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation }
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 'Agent Server', version: '0.1.0' },
    security: [],
    paths,
    components: { schemas: printComponents(reached, printer) },
  }
  return `${printJson(document, '')}\n`
}

interface Printer {
  readonly contract: Contract
  /** A reference to a component, which is printed later: the type of that name, or another schema. */
  reference(name: string, schema?: NamedSchema): Json
}

/** Printing a component may reach further components. The map takes them up while it is walked. */
function printComponents(reached: ReadonlyMap<string, NamedSchema>, printer: Printer): Json {
  const components = new Map<string, Json>()
  for (const [name, schema] of reached) components.set(name, printNamed(schema, printer))
  return Object.fromEntries([...components].sort(([left], [right]) => (left < right ? -1 : 1)))
}

function printOperation(endpoint: Endpoint, pathParameters: OpenApiSource['pathParameters'], printer: Printer): Json {
  const { method, path, tag, summary, query, request, isBodyOptional, form, takesKey } = endpoint
  const placed = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const parameters = placed.map((name): Json => {
    const known = pathParameters[path.slice(0, path.indexOf(`{${name}}`) + name.length + 2)] ?? pathParameters[name]
    const schema = printSchema(known ?? { type: 'string' }, printer)
    return { name, in: 'path', required: true, schema }
  })
  if (query !== undefined) parameters.push(...printQuery(query, printer))
  if (takesKey === true) parameters.push(idempotencyKey)
  return {
    tags: [tag],
    summary,
    operationId: `${method} ${path}`.toLowerCase().replaceAll(/\W+/g, '_').replace(/_$/, ''),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(request === undefined ? {} : { requestBody: printRequest(request, isBodyOptional !== true, printer) }),
    ...(form === undefined ? {} : { requestBody: printForm(form) }),
    responses: printResponses(endpoint, placed, parameters.length > 0, printer),
  }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A request that is sent again with its key has one effect and one answer, for 24 hours.',
  schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
}

/**
 * Prints the answers of an operation. A thing that may be missing can be not found, and an operation that takes input
 * can refuse it. A body that fits its schema may be refused for a rule that no schema has: the detail is a text then.
 * An operation that reads one thing by its path alone has no other refusal, as the specification says.
 */
function printResponses(
  endpoint: Endpoint, placed: readonly string[], takesParameters: boolean, printer: Printer,
): Json {
  const isPlaced = placed.length > 0
  const responses: Record<string, Json> = {}
  for (const [status, answer] of Object.entries(endpoint.responses)) responses[status] = printResponse(answer, printer)
  const { method, query, request, error = 'ErrorDetail' } = endpoint
  if (isPlaced) responses[404] = printResponse({ doc: 'Item not found', body: ref(error) }, printer)
  const issues = ref('HTTPValidationError')
  const isNamed = placed.some((name) => !name.endsWith('_id'))
  const isOfPlaces = request === undefined && !isNamed && endpoint.takesKey !== true
  const body = isOfPlaces ? issues : either(issues, ref('ErrorDetail'))
  const isChecked = endpoint.error === undefined && (takesParameters || request !== undefined)
  if (isChecked) responses[422] = printResponse({ doc: 'Validation Error', body }, printer)
  const isPlainReading = method === 'GET' && isPlaced && query === undefined
  if (!isPlainReading) responses['4XX'] = printResponse({ doc: 'Any other refusal', body: ref(error) }, printer)
  return responses
}

/** A body that may be missing may also be null. */
function printRequest(request: Schema, required: boolean, printer: Printer): Json {
  const schema = printSchema(request, printer)
  return { required, ...jsonContent(required ? schema : orNull(schema)) }
}

function printForm(files: readonly string[]): Json {
  const file = { type: 'string', contentMediaType: 'application/octet-stream' }
  const properties = Object.fromEntries(files.map((name) => [name, file]))
  return {
    required: true, content: { 'multipart/form-data': { schema: { type: 'object', properties, required: files } } },
  }
}

function printResponse({ doc, body, mediaType }: ResponseSchema, printer: Printer): Json {
  // A schema of a stream of events would be that of one event.
  const text = mediaType === 'text/event-stream' ? {} : { schema: { type: 'string' } }
  if (mediaType !== undefined) return { description: doc, content: { [mediaType]: text } }
  return { description: doc, ...(body === undefined ? {} : jsonContent(printSchema(body, printer))) }
}

function jsonContent(schema: Json): Json {
  return { content: { 'application/json': { schema } } }
}

function printQuery(name: string, printer: Printer): Json[] {
  const schema = find(printer.contract, name)
  if (schema.type !== 'object') throw new Error(`The query "${name}" must be an object`)
  return Object.entries(schema.members).map(([key, member]) => {
    const fallback = member.presence === 'default' ? { default: member.default } : {}
    const printed = { ...printSchema(member.schema, printer), ...member.stated, ...fallback }
    const isRequired = member.presence === 'required'
    return { name: key, in: 'query', required: isRequired, ...describe(member.doc), schema: printed }
  })
}

function printNamed(schema: NamedSchema, printer: Printer): Json {
  switch (schema.type) {
    case 'object': return printObject(schema, printer)
    case 'union': return printUnion(schema, printer)
    case 'alias': return { ...describe(schema.doc), ...printSchema(schema.of, printer) }
  }
}

function printObject(schema: ObjectSchema, printer: Printer): Json {
  const members = Object.entries(schema.members)
  const required = members.filter(([, member]) => isAlwaysThere(member, schema.outgoing === true)).map(([name]) => name)
  return {
    ...describe(schema.doc),
    type: 'object',
    properties: Object.fromEntries(members.map(([name, member]) => [name, printMember(member, printer)])),
    ...(required.length === 0 ? {} : { required }),
    ...(schema.unknown === 'refused' ? { additionalProperties: false } : {}),
    // Without this, generators take an object without members for one that has none.
    ...(schema.unknown === 'kept' || members.length === 0 ? { additionalProperties: true } : {}),
  }
}

function isAlwaysThere({ presence }: Member, isOutgoing: boolean): boolean {
  return presence === 'required' || (isOutgoing && (presence === 'default' || presence === 'assigned'))
}

function printMember(member: Member, printer: Printer): Json {
  const printed = { ...printSchema(member.schema, printer), ...member.stated }
  const takesNull = member.presence === 'optional' || (member.presence === 'default' && member.orNull)
  const schema = takesNull ? orNull(printed) : printed
  if (member.presence !== 'default') return { ...schema, ...describe(member.doc) }
  // Generators drop a type with an object or a list as the default beside null, and each operation that needs it.
  const isUnreadable = typeof member.default === 'object' && member.default !== null && acceptsNull(schema)
  if (!isUnreadable) return { ...schema, ...describe(member.doc), default: member.default }
  return { ...schema, ...describe(`${member.doc} Default: \`${JSON.stringify(member.default)}\`.`.trim()) }
}

function printUnion(schema: UnionSchema, printer: Printer): Json {
  const choices = choicesOf(printer.contract, schema).flatMap((choice) => choice.tags.map((tag) => {
    if (choice.tags.length === 1) return { tag, reference: printer.reference(choice.variant) }
    return { tag, reference: printer.reference(tag, narrow(printer.contract, schema, choice, tag)) }
  }))
  return {
    ...describe(schema.doc),
    oneOf: choices.map(({ reference }) => reference),
    discriminator: {
      propertyName: schema.tag,
      mapping: Object.fromEntries(choices.map(({ tag, reference }) => [tag, reference['$ref']])),
    },
  }
}

function printSchema(schema: Schema, printer: Printer): Json {
  switch (schema.type) {
    case 'string': case 'number': return { ...schema }
    case 'integer': return { ...schema, ...safeRange(schema) }
    case 'boolean': return { type: 'boolean' }
    case 'constant': return { type: 'string', const: schema.value }
    case 'enumeration': return { type: 'string', enum: schema.values }
    case 'nullable': return orNull(printSchema(schema.of, printer))
    case 'either': return { anyOf: schema.of.map((branch) => printSchema(branch, printer)) }
    case 'json': return {}
    case 'open': return { type: 'object', additionalProperties: true }
    case 'reference': return printer.reference(schema.name)
    case 'map': {
      const { values, keys, maxProperties } = schema
      const names = keys === undefined ? {} : { propertyNames: { pattern: keys } }
      const count = maxProperties === undefined ? {} : { maxProperties }
      return { type: 'object', additionalProperties: printSchema(values, printer), ...names, ...count }
    }
    case 'array': {
      const { items, bareText, ...rules } = schema
      const list = { ...rules, items: printSchema(items, printer) }
      return bareText === undefined ? list : { anyOf: [list, { type: 'string' }] }
    }
  }
}

/** Returns the bounds that every integer has (`NumberSchema`), where the schema has none of its own. */
function safeRange({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: NumberSchema): Json {
  return {
    ...(minimum === undefined && exclusiveMinimum === undefined ? { minimum: Number.MIN_SAFE_INTEGER } : {}),
    ...(maximum === undefined && exclusiveMaximum === undefined ? { maximum: Number.MAX_SAFE_INTEGER } : {}),
  }
}

const none = { type: 'null' }

function orNull(schema: Json): Json {
  return { anyOf: [schema, none] }
}

function acceptsNull({ anyOf }: Json): boolean {
  return Array.isArray(anyOf) && anyOf.includes(none)
}

/** Prints like JSON.stringify with an indent, but a value that fits on one line stays on one line. */
function printJson(value: unknown, indent: string): string {
  const line = JSON.stringify(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length < 100) return line
  const deeper = `${indent}  `
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => deeper + printJson(item, deeper))
    return `[\n${items.join(',\n')}\n${indent}]`
  }
  const members = Object.entries(value).map(([name, member]) => {
    return `${deeper}${JSON.stringify(name)}: ${printJson(member, deeper)}`
  })
  return `{\n${members.join(',\n')}\n${indent}}`
}

function describe(doc: string): Json {
  return doc === '' ? {} : { description: doc }
}
