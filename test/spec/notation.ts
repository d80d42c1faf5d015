/**
 * Prints a member of the schema in the short notation of the tables in this folder, so that a table written from the
 * specification can be compared with the schema.
 *
 * `string, required` must be there; `string or null` may be missing or null; `integer = 0` has a default; a bare type
 * may be missing. Enumerations and small unions are spelled out, unions that are told apart by `kind` go by their name.
 */
import type { Member, NumberSchema, ObjectSchema, Schema, StringSchema } from '../../src/schema/spec/define.ts'
import { registry } from '../../src/schema/registry.ts'

/** Member -> type, presence and default, in the order of the table. */
export type Table = Readonly<Record<string, string>>

export function printObject(schema: ObjectSchema): Record<string, string> {
  const entries = Object.entries(schema.members).map(([name, member]): [string, string] => [name, printMember(member)])
  return Object.fromEntries(entries)
}

function printMember(member: Member): string {
  const type = printSchema(member.schema)
  switch (member.presence) {
    case 'required': return `${type}, required`
    case 'optional': return `${type} or null`
    case 'omittable': case 'assigned': return type
    case 'default': return member.default === null ? type : `${type} = ${JSON.stringify(member.default)}`
  }
}

function printSchema(schema: Schema): string {
  switch (schema.type) {
    case 'string': return printString(schema)
    case 'integer': case 'number': return printNumber(schema)
    case 'boolean': return 'boolean'
    case 'constant': return `"${schema.value}"`
    case 'enumeration': return schema.values.join('|')
    case 'array': return printList(printSchema(schema.items), schema.minItems, schema.maxItems)
    case 'map': return `map of ${printSchema(schema.values)}`
    case 'nullable': return `${printSchema(schema.of)} or null`
    case 'either': return schema.of.map(printSchema).join('|')
    case 'json': return 'any'
    case 'open': return 'object'
    case 'reference': return printReference(schema.name)
  }
}

function printString({ minLength, maxLength, format }: StringSchema): string {
  if (format !== undefined) return format
  return minLength !== undefined && minLength === maxLength ? `string of ${minLength}` : 'string'
}

function printNumber({ type, minimum, maximum }: NumberSchema): string {
  if (minimum === undefined) return type
  return maximum === undefined ? `${type} >= ${minimum}` : `${type} ${minimum}..${maximum}`
}

function printList(items: string, minItems: number | undefined, maxItems: number | undefined): string {
  const list = items.includes('|') ? `(${items})[]` : `${items}[]`
  return minItems !== undefined && minItems === maxItems ? `${list} of ${minItems}` : list
}

function printReference(name: string): string {
  const named = registry[name]
  if (named?.type === 'alias') return printSchema(named.of)
  return named?.type === 'union' && named.tag !== 'kind' ? named.variants.join('|') : name
}
