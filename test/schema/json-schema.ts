/**
 * Checks a value against a JSON Schema (2020-12), as far as our OpenAPI document uses it.
 *
 * A second opinion beside the generated validators: written from the standard, without a line of src/schema. A keyword
 * that it does not know is an error, so nothing in the document is silently left out. `format` is an annotation here.
 */
import { isObject } from '../../src/base/json.ts'

/**
 * Returns the faults of a value, each with its place; none when the value fits. `document` is the document that
 * references lead into.
 */
export function faultsOf(value: unknown, schema: unknown, document: unknown, place = '$'): string[] {
  if (!isObject(schema)) return [`${place}: the schema is no object`]
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const rules = keywords[keyword]
    if (rules === undefined) return [`${place}: the keyword "${keyword}" is unknown`]
    return rules({ value, rule, schema, document, place })
  })
}

/** Follows a JSON pointer of the document (RFC 6901, without escapes). */
export function resolve(reference: string, document: unknown): unknown {
  if (!reference.startsWith('#/')) return undefined
  const step = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)
  return reference.slice(2).split('/').reduce(step, document)
}

interface Check {
  readonly value: unknown
  readonly rule: unknown
  readonly schema: Readonly<Record<string, unknown>>
  readonly document: unknown
  readonly place: string
}

type Keyword = (check: Check) => string[]

const annotation: Keyword = () => []

const keywords: Readonly<Record<string, Keyword>> = {
  description: annotation,
  default: annotation,
  format: annotation,
  discriminator: annotation,
  $ref: ({ value, rule, document, place }) => faultsOf(value, resolve(String(rule), document), document, place),
  type: (check) => failUnless(hasType(check.value, check.rule), check),
  const: (check) => failUnless(check.value === check.rule, check),
  enum: (check) => failUnless(listOf(check.rule).includes(check.value), check),
  minimum: (check) => failUnless(!compares(check, (value, bound) => value < bound), check),
  maximum: (check) => failUnless(!compares(check, (value, bound) => value > bound), check),
  exclusiveMinimum: (check) => failUnless(!compares(check, (value, bound) => value <= bound), check),
  exclusiveMaximum: (check) => failUnless(!compares(check, (value, bound) => value >= bound), check),
  minLength: (check) => failUnless(lengthOf(check.value, Infinity) >= Number(check.rule), check),
  maxLength: (check) => failUnless(lengthOf(check.value, 0) <= Number(check.rule), check),
  pattern: (check) => {
    return failUnless(typeof check.value !== 'string' || new RegExp(String(check.rule), 'u').test(check.value), check)
  },
  minItems: (check) => failUnless(!Array.isArray(check.value) || check.value.length >= Number(check.rule), check),
  maxItems: (check) => failUnless(!Array.isArray(check.value) || check.value.length <= Number(check.rule), check),
  maxProperties: (check) =>
    failUnless(!isObject(check.value) || Object.keys(check.value).length <= Number(check.rule), check),
  items: ({ value, rule, document, place }) => {
    return listOf(value).flatMap((item, index) => faultsOf(item, rule, document, `${place}[${index}]`))
  },
  anyOf: (check) => failUnless(fitting(check).length > 0, check),
  oneOf: (check) => (fitting(check).length === 1 ? [] : explainChoice(check)),
  required: ({ value, rule, place }) => {
    if (!isObject(value)) return []
    const missing = listOf(rule).filter((name) => !Object.hasOwn(value, String(name)))
    return missing.map((name) => `${place}: "${String(name)}" is missing`)
  },
  properties: ({ value, rule, document, place }) => {
    const known = membersOf(value).filter(([name]) => isObject(rule) && Object.hasOwn(rule, name))
    return known.flatMap(([name, member]) => {
      return faultsOf(member, isObject(rule) ? rule[name] : undefined, document, `${place}.${name}`)
    })
  },
  additionalProperties: ({ value, rule, schema, document, place }) => {
    const { properties } = schema
    const others = membersOf(value).filter(([name]) => !isObject(properties) || !Object.hasOwn(properties, name))
    if (rule === true) return []
    if (rule === false) return others.map(([name]) => `${place}: "${name}" is not allowed`)
    return others.flatMap(([name, member]) => faultsOf(member, rule, document, `${place}.${name}`))
  },
  propertyNames: ({ value, rule, document, place }) => {
    return membersOf(value).flatMap(([name]) => faultsOf(name, rule, document, `${place}, the name "${name}"`))
  },
}

function failUnless(holds: boolean, { value, rule, place }: Check): string[] {
  const [seen, wanted] = [value, rule].map((one) => JSON.stringify(one)?.slice(0, 200))
  return holds ? [] : [`${place}: ${seen} does not fit ${wanted}`]
}

/** Returns false for a value that is no number: bounds say nothing about it. */
function compares({ value, rule }: Check, isBeyond: (value: number, bound: number) => boolean): boolean {
  return typeof value === 'number' && isBeyond(value, Number(rule))
}

function fitting({ value, rule, document, place }: Check): unknown[] {
  return listOf(rule).filter((branch) => faultsOf(value, branch, document, place).length === 0)
}

/** Returns the faults of the variant that the value names, in a union that names its variants. */
function explainChoice(check: Check): string[] {
  const { value, schema, document, place } = check
  const { discriminator } = schema
  if (isObject(value) && isObject(discriminator) && isObject(discriminator['mapping'])) {
    const chosen = discriminator['mapping'][String(value[String(discriminator['propertyName'])])]
    if (typeof chosen === 'string') return faultsOf(value, { $ref: chosen }, document, place)
  }
  return failUnless(false, check)
}

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null': return value === null
    case 'array': return Array.isArray(value)
    case 'object': return isObject(value)
    case 'integer': return Number.isInteger(value)
    default: return typeof value === type
  }
}

/** Returns the length in characters, as the standard counts; `otherwise` for a value that is no string. */
function lengthOf(value: unknown, otherwise: number): number {
  return typeof value === 'string' ? [...value].length : otherwise
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function membersOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}
