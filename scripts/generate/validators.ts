/**
 * Prints `isX`: one function per type, member by member in the order of the definition. It accepts the input form,
 * allocates nothing and calls no closure. A closed object is one whose members are all known: it counts them.
 * A closed variant is two functions, so that the `switch` of its union, which has seen the tag, need not look again.
 */
import type {
  ArraySchema, MapSchema, Member, NamedSchema, ObjectSchema, UnionSchema, Untagged,
} from '../../src/schema/spec/define.ts'
import { conditionOf, printCondition, type Condition } from './conditions.ts'
import { choicesOf, find, unionOf, type Contract } from './contract.ts'
import { referenceType } from './interfaces.ts'
import type { Locals } from './locals.ts'
import { quote, wrap } from './text.ts'

export function printValidator(name: string, schema: NamedSchema, contract: Contract, locals: Locals): string[] {
  const head = `export function is${name}(value: unknown): value is ${referenceType(name, 'input', contract)} {`
  return [...wrap(head), ...printBody(name, schema, contract, locals), '}']
}

function printBody(name: string, schema: NamedSchema, contract: Contract, locals: Locals): string[] {
  switch (schema.type) {
    case 'object': return ['  if (!isObject(value)) return false', ...printObject(name, schema, contract, locals)]
    case 'union': return ['  if (!isObject(value)) return false', ...printUnion(schema, contract)]
    case 'alias': return wrap(`  return ${printCondition(conditionOf(schema.of, 'value', locals), true)}`)
  }
}

export function printListValidator(name: string, schema: ArraySchema, locals: Locals): string[] {
  const lines = [`function ${name}(value: unknown): boolean {`, '  if (!Array.isArray(value)) return false',
    '  const items: readonly unknown[] = value']
  if (schema.minItems !== undefined) lines.push(`  if (items.length < ${schema.minItems}) return false`)
  if (schema.maxItems !== undefined) lines.push(`  if (items.length > ${schema.maxItems}) return false`)
  const test = refuse('    ', conditionOf(schema.items, 'item', locals))
  return [...lines, '  for (const item of items) {', ...test, '  }', '  return true', '}']
}

export function printMapValidator(name: string, schema: MapSchema, locals: Locals): string[] {
  const lines = [`function ${name}(value: unknown): boolean {`, '  if (!isObject(value)) return false']
  if (schema.maxProperties !== undefined) {
    lines.push(`  if (countMembers(value) > ${schema.maxProperties}) return false`)
  }
  lines.push(
    `  for (const ${schema.keys === undefined ? 'item of Object.values' : '[key, item] of Object.entries'}(value)) {`,
  )
  if (schema.keys !== undefined) lines.push(`    if (!${locals.pattern(schema.keys)}.test(key)) return false`)
  return [...lines, ...refuse('    ', conditionOf(schema.values, 'item', locals)), '  }', '  return true', '}']
}

/** For a closed variant the rest of the function and most of a second one. */
function printObject(name: string, schema: ObjectSchema, contract: Contract, locals: Locals): string[] {
  const tag = checkedTag(contract, name)
  if (tag === undefined) return printMembers(schema, undefined, locals)
  return [
    ...refuse('  ', conditionOf(tag.member.schema, `value['${tag.name}']`, locals)),
    `  return has${name}Members(value)`,
    '}',
    '',
    `function has${name}Members(value: Readonly<Record<string, unknown>>): boolean {`,
    ...printMembers(schema, tag.name, locals),
  ]
}

/** The member by which a union tells a closed object apart, if it is always there: its switch has checked it then. */
function checkedTag(contract: Contract, name: string): { name: string; member: Member } | undefined {
  const [union, schema] = [unionOf(contract, name), find(contract, name)]
  if (union === undefined || schema.type !== 'object' || schema.unknown !== 'refused') return undefined
  const member = schema.members[union.tag]
  return member?.presence === 'required' ? { name: union.tag, member } : undefined
}

/** The body of a function that has an object as `value`; `checked` is a member that needs no more checking. */
function printMembers(schema: ObjectSchema, checked: string | undefined, locals: Locals): string[] {
  const members = Object.entries(schema.members)
  const counted = schema.unknown === 'refused'
  const required = members.filter(([, member]) => member.presence === 'required').length
  const varies = counted && required < members.length
  const lines = varies ? [`  let members = ${required}`] : []
  for (const [name, member] of members) {
    if (name !== checked) lines.push(...printMember(`value['${name}']`, member, counted, locals))
  }
  const count = varies ? 'members' : String(required)
  return [...lines, counted ? `  return countMembers(value) === ${count}` : '  return true']
}

function printMember(expression: string, member: Member, counted: boolean, locals: Locals): string[] {
  const accepted = conditionOf(member.schema, expression, locals)
  if (member.presence === 'required') return refuse('  ', accepted)
  const orNull = member.presence === 'optional' || (member.presence === 'default' && member.orNull)
  const present = orNull ? anyOf(equals(expression, 'null'), accepted) : accepted
  const isAnything = member.schema.type === 'json'
  if (!counted) return isAnything ? [] : refuse('  ', anyOf(equals(expression, 'undefined'), present))
  const test = isAnything ? [] : refuse('    ', present)
  return [`  if (${expression} !== undefined) {`, ...test, '    members++', '  }']
}

function equals(expression: string, value: string): Condition {
  return { yes: `${expression} === ${value}`, no: `${expression} !== ${value}` }
}

/** Flat, so that it prints without brackets where the condition is an alternative itself. */
function anyOf(first: Condition, condition: Condition): Condition {
  return { any: [first, ...('any' in condition ? condition.any : [condition])] }
}

function refuse(indent: string, accepted: Condition): string[] {
  return wrap(`${indent}if (${printCondition(accepted, false)}) return false`)
}

function printUnion(schema: UnionSchema, contract: Contract): string[] {
  const lines = [`  switch (value['${schema.tag}']) {`]
  for (const { variant, tags } of choicesOf(contract, schema)) {
    const test = checkedTag(contract, variant) === undefined ? `is${variant}` : `has${variant}Members`
    lines.push(...tags.map((tag) => `    case ${quote(tag)}:`), `      return ${test}(value)`)
  }
  if (schema.untagged !== undefined) lines.push('    case undefined:', ...printUntagged(schema.untagged))
  return [...lines, '    default:', '      return false', '  }']
}

function printUntagged(untagged: Untagged): string[] {
  const lines = untagged.map(({ variant, has }) => {
    const condition = has === undefined ? '' : `if (value['${has}'] !== undefined) `
    return `      ${condition}return is${variant}(value)`
  })
  return untagged.at(-1)?.has === undefined ? lines : [...lines, '      return false']
}
