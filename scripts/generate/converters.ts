/**
 * Prints `toX`: the normal form of a valid input as a new object, members in canonical order, defaults filled in,
 * absent members left out. `JSON.stringify` of it is the canonical text. Open objects are passed on untouched.
 */
import type {
  ArraySchema, MapSchema, Member, NamedSchema, ObjectSchema, Schema, UnionSchema, Untagged,
} from '../../src/schema/spec/define.ts'
import { assignedOf, choicesOf, isConverted, type Contract } from './contract.ts'
import { referenceType, typeOf } from './interfaces.ts'
import type { Locals } from './locals.ts'
import { literal, quote, wrap } from './text.ts'

export function printConverter(name: string, schema: NamedSchema, contract: Contract, locals: Locals): string[] {
  if (!isConverted(contract, schema) || schema.type === 'alias') return []
  const assigned = assignedOf(contract, schema)
  const input = referenceType(name, 'input', contract)
  const parameter = assigned.length === 0 ? input : `${input} & Pick<${name}, ${assigned.map(quote).join(' | ')}>`
  const body = schema.type === 'object' ? printObject(name, schema, contract, locals) : printUnion(schema, contract)
  const head = `export function to${name}(input: ${parameter}): ${name} {`
  return [...wrap(head, [`export function to${name}(`, `  input: ${parameter},`, `): ${name} {`]), ...body, '}']
}

/** A list that may be given as a bare text. */
export function printTextConverter(name: string, schema: ArraySchema, contract: Contract, locals: Locals): string[] {
  const from = typeOf(schema, 'input', contract)
  return [`function ${name}(input: ${from}): ${typeOf(schema, 'normal', contract)} {`,
    `  if (typeof input === 'string') return [to${schema.bareText}({ text: input })]`,
    `  return ${convertItems('input', schema, contract, locals)}`, '}']
}

/** `Object.fromEntries` makes own members of all keys, `__proto__` too. */
export function printMapConverter(name: string, schema: MapSchema, contract: Contract, locals: Locals): string[] {
  const [from, to] = [typeOf(schema, 'input', contract), typeOf(schema, 'normal', contract)]
  return [
    ...wrap(`function ${name}(input: ${from}): ${to} {`, [`function ${name}(`, `  input: ${from},`, `): ${to} {`]),
    '  const entries = Object.entries(input).map(([key, item]) => {',
    `    return [key, ${convert(schema.values, 'item', contract, locals)}] as const`,
    '  })',
    '  return Object.fromEntries(entries)',
    '}',
  ]
}

/**
 * Prints the members up to the first that may be left out as one literal. The members behind it are added one by one.
 */
function printObject(name: string, schema: ObjectSchema, contract: Contract, locals: Locals): string[] {
  const members = Object.entries(schema.members)
  const first = members.findIndex(isLoose)
  const line = (key: string, member: Member): string => `${key}: ${memberValue(key, member, contract, locals)}`
  if (first === -1) return literalLines('  return', members.map(([key, member]) => line(key, member)))

  const inOrder = members.slice(first).every(isLoose)
  const kind = inOrder ? 'Mutable' : 'Building'
  const head = members.slice(0, first).map(([key, member]) => line(key, member))
  const tail = members.slice(first).flatMap(([key, member]) => {
    const assignment = `output.${key} = ${memberValue(key, member, contract, locals)}`
    if (member.presence === 'optional') return printIf(`input.${key} != null`, assignment)
    if (member.presence === 'omittable') return printIf(`input.${key} !== undefined`, assignment)
    return wrap(`  ${assignment}`)
  })
  return [...literalLines(`  const output: ${kind}<${name}> =`, head), ...tail,
    inOrder ? '  return output' : `  return output as ${name}`]
}

function isLoose([, member]: [string, Member]): boolean {
  return member.presence === 'optional' || member.presence === 'omittable'
}

function printIf(condition: string, statement: string): string[] {
  return wrap(`  if (${condition}) ${statement}`, [`  if (${condition}) {`, `    ${statement}`, '  }'])
}

function literalLines(start: string, members: readonly string[]): string[] {
  if (members.length === 0) return [`${start} {}`]
  return [`${start} {`, ...members.flatMap((member) => wrap(`    ${member},`)), '  }']
}

function memberValue(name: string, member: Member, contract: Contract, locals: Locals): string {
  const { schema } = member
  const expression = `input.${name}`
  if (schema.type === 'constant' && member.presence === 'default') return quote(schema.value)
  if (member.presence !== 'default') return convert(schema, expression, contract, locals)
  const fallback = literal(member.default)
  if (member.whenNull !== undefined) {
    return `${expression} === null ? ${literal(member.whenNull)} : ${expression} ?? ${fallback}`
  }
  const takesNull = schema.type === 'nullable' || schema.type === 'json'
  if (!takesNull) return convertDefault(schema, `${expression} ?? ${fallback}`, contract, locals)
  if (member.default === null && schema.type === 'nullable') {
    return isConverted(contract, schema)
      ? `${expression} == null ? null : ${convert(schema.of, expression, contract, locals)}`
      : `${expression} ?? null`
  }
  if (schema.type === 'nullable' && isConverted(contract, schema)) {
    return `${expression} === null ? null : ` +
      `${convertDefault(schema.of, `${expression} ?? ${fallback}`, contract, locals)}`
  }
  return `${expression} === undefined ? ${fallback} : ${convert(schema, expression, contract, locals)}`
}

function convertDefault(schema: Schema, value: string, contract: Contract, locals: Locals): string {
  if (!isConverted(contract, schema)) return value
  const isCall = schema.type !== 'array' || schema.bareText !== undefined
  return convert(schema, isCall ? value : `(${value})`, contract, locals)
}

function convert(schema: Schema, expression: string, contract: Contract, locals: Locals): string {
  if (!isConverted(contract, schema)) return expression
  switch (schema.type) {
    case 'reference': return `to${schema.name}(${expression})`
    case 'nullable': return `${expression} === null ? null : ${convert(schema.of, expression, contract, locals)}`
    case 'map': return `${locals.converter(schema)}(${expression})`
    case 'array':
      return schema.bareText === undefined
        ? convertItems(expression, schema, contract, locals)
        : `${locals.converter(schema)}(${expression})`
    case 'either': {
      const object = schema.of.find((branch) => isConverted(contract, branch))
      if (object?.type !== 'reference') throw new Error('Of either-or schemas only a reference is converted')
      return `typeof ${expression} === 'object' ? ${convert(object, expression, contract, locals)} : ${expression}`
    }
    default: throw new Error(`Cannot convert a ${schema.type}`)
  }
}

function convertItems(expression: string, schema: ArraySchema, contract: Contract, locals: Locals): string {
  const { items } = schema
  if (!isConverted(contract, items)) return expression
  if (items.type === 'reference') return `${expression}.map(to${items.name})`
  return `${expression}.map((item) => ${convert(items, 'item', contract, locals)})`
}

function printUnion(schema: UnionSchema, contract: Contract): string[] {
  const lines = [`  switch (input.${schema.tag}) {`]
  for (const { variant, tags } of choicesOf(contract, schema)) {
    lines.push(...tags.map((tag) => `    case ${quote(tag)}:`), `      return to${variant}(input)`)
  }
  if (schema.untagged !== undefined) lines.push('    case undefined:', ...printUntagged(schema.untagged))
  return [...lines, '  }']
}

/** The input is valid, so the last variant needs no test. */
function printUntagged(untagged: Untagged): string[] {
  return untagged.map(({ variant, has }, index) => {
    const condition = index === untagged.length - 1 || has === undefined ? '' : `if ('${has}' in input) `
    return `      ${condition}return to${variant}(input)`
  })
}
