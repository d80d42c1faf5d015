/**
 * Prints the TypeScript types of a definition: the normal form under its own name and, where it differs, the input
 * form under the name with `Input` behind: there members with a default may be missing and optional ones may be null.
 */
import type { Member, NamedSchema, ObjectSchema, Schema, UnionSchema } from '../../src/schema/spec/define.ts'
import { assignedOf, choicesOf, find, inputDiffers, type Contract } from './contract.ts'
import { comment, quote, wrap } from './text.ts'

export type Form = 'normal' | 'input'

export function printTypes(name: string, schema: NamedSchema, contract: Contract): string[] {
  const lines = [...comment(schema.doc), ...printForm(name, schema, 'normal', contract)]
  if (schema.type === 'object' && schema.outgoing === true) return lines
  if (inputDiffers(contract, schema)) lines.push('', ...printForm(`${name}Input`, schema, 'input', contract))
  if (schema.type === 'union') lines.push(...printKinds(name, schema, contract), ...printDraft(name, schema, contract))
  return lines
}

/** The type of a value in source: `readonly string[]`, `'a' | 'b'`, `MessageInput`. */
export function typeOf(schema: Schema, form: Form, contract: Contract): string {
  switch (schema.type) {
    case 'string': return 'string'
    case 'integer': case 'number': return 'number'
    case 'boolean': return 'boolean'
    case 'constant': return quote(schema.value)
    case 'enumeration': return schema.values.map(quote).join(' | ')
    case 'nullable': return `${typeOf(schema.of, form, contract)} | null`
    case 'either': return schema.of.map((branch) => typeOf(branch, form, contract)).join(' | ')
    case 'json': return 'unknown'
    case 'open': return 'Readonly<Record<string, unknown>>'
    case 'map': return `Readonly<Record<string, ${typeOf(schema.values, form, contract)}>>`
    case 'reference': return referenceType(schema.name, form, contract)
    case 'array': {
      const items = typeOf(schema.items, form, contract)
      const list = `readonly ${items.includes(' ') ? `(${items})` : items}[]`
      return form === 'input' && schema.bareText !== undefined ? `string | ${list}` : list
    }
  }
}

export function referenceType(name: string, form: Form, contract: Contract): string {
  return form === 'input' && inputDiffers(contract, find(contract, name)) ? `${name}Input` : name
}

function printForm(name: string, schema: NamedSchema, form: Form, contract: Contract): string[] {
  switch (schema.type) {
    case 'object': return printInterface(name, schema, form, contract)
    case 'union':
      return printUnion(name, schema.variants.map((variant) => referenceType(variant, form, contract)))
    case 'alias': return printAlias(name, schema.of, contract)
  }
}

function printInterface(name: string, schema: ObjectSchema, form: Form, contract: Contract): string[] {
  const lines = [`export interface ${name} {`]
  for (const [key, member] of Object.entries(schema.members)) {
    if (form === 'normal') lines.push(...comment(member.doc, '  '))
    lines.push(...wrap(`  readonly ${key}${memberType(member, form, contract)}`))
  }
  if (schema.unknown === 'kept') lines.push('  readonly [name: string]: unknown')
  return [...lines, '}']
}

/** From the colon or question mark on. */
function memberType(member: Member, form: Form, contract: Contract): string {
  const type = typeOf(member.schema, form, contract)
  if (form === 'normal') {
    return member.presence === 'optional' || member.presence === 'omittable' ? `?: ${type}` : `: ${type}`
  }
  switch (member.presence) {
    case 'required': return `: ${type}`
    case 'optional': return `?: ${type} | null | undefined`
    case 'default': return `?: ${type}${member.orNull ? ' | null' : ''} | undefined`
    case 'omittable': case 'assigned': return `?: ${type} | undefined`
  }
}

function printUnion(name: string, types: readonly string[]): string[] {
  return [`export type ${name} =`, ...types.map((type) => `  | ${type}`)]
}

/** An enumeration is a list of its values too. */
function printAlias(name: string, of: Schema, contract: Contract): string[] {
  if (of.type === 'enumeration') return printList(`${uncapitalized(name)}Values`, name, of.values)
  return wrap(`export type ${name} = ${typeOf(of, 'normal', contract)}`)
}

/** The values of `kind` or `agent_kind` as a list, in the order of the definition. */
function printKinds(name: string, schema: UnionSchema, contract: Contract): string[] {
  if (!schema.tag.endsWith('kind')) return []
  const tags = choicesOf(contract, schema).flatMap((variant) => variant.tags)
  return ['', ...printList(`${uncapitalized(name)}Kinds`, `${name}Kind`, tags)]
}

/** The values as a constant, and the type of them. */
function printList(list: string, type: string, values: readonly string[]): string[] {
  return [`export const ${list} = [`, ...values.map((value) => `  ${quote(value)},`), '] as const',
    `export type ${type} = (typeof ${list})[number]`]
}

function uncapitalized(name: string): string {
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`
}

/** A union whose members the server completes also has the form before that. */
function printDraft(name: string, schema: UnionSchema, contract: Contract): string[] {
  const assigned = assignedOf(contract, schema)
  if (assigned.length === 0) return []
  const without = assigned.map(quote).join(' | ')
  return ['', ...comment(`Before the server supplied ${assigned.join(' and ')}.`), ...printUnion(`${name}Draft`,
    schema.variants.map((variant) => `Omit<${referenceType(variant, 'input', contract)}, ${without}>`))]
}
