/**
 * Prints the condition under which a value is accepted, or its negation, as one expression.
 *
 * A condition is a tree of tests; both printings come from the same tree (De Morgan), so they cannot differ. Lists,
 * maps and patterns become declarations of their own.
 */
import type { NumberSchema, Schema, StringSchema } from '../../src/schema/spec/define.ts'
import type { Locals } from './locals.ts'
import { quote } from './text.ts'

export type Condition =
  | { readonly yes: string; readonly no: string }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }

/** The condition that `expression`, of type unknown, is a value of the schema. */
export function conditionOf(schema: Schema, expression: string, locals: Locals): Condition {
  switch (schema.type) {
    case 'string': return stringCondition(schema, expression, locals)
    case 'integer': case 'number': return numberCondition(schema, expression)
    case 'boolean': return compare(`typeof ${expression}`, quote('boolean'))
    case 'constant': return compare(expression, quote(schema.value))
    case 'enumeration': return { any: schema.values.map((value) => compare(expression, quote(value))) }
    case 'nullable': return { any: [compare(expression, 'null'), conditionOf(schema.of, expression, locals)] }
    case 'either': return { any: schema.of.map((branch) => conditionOf(branch, expression, locals)) }
    case 'json': return { yes: `${expression} !== undefined`, no: `${expression} === undefined` }
    case 'open': return call('isObject', expression)
    case 'reference': return call(`is${schema.name}`, expression)
    case 'array': {
      const list = call(locals.tester(schema), expression)
      if (schema.bareText === undefined) return list
      return { any: [compare(`typeof ${expression}`, quote('string')), list] }
    }
    case 'map': return call(locals.tester(schema), expression)
  }
}

/** The expression that is true when the condition holds, or with `wanted` false when it does not. */
export function printCondition(condition: Condition, wanted: boolean): string {
  if ('yes' in condition) return wanted ? condition.yes : condition.no
  const isAll = 'all' in condition
  const parts = isAll ? condition.all : condition.any
  return parts.map((part) => {
    const text = printCondition(part, wanted)
    return parts.length > 1 && isCompound(part) ? `(${text})` : text
  }).join(isAll === wanted ? ' && ' : ' || ')
}

function isCompound(condition: Condition): boolean {
  if ('yes' in condition) return false
  return ('all' in condition ? condition.all : condition.any).length > 1
}

function compare(left: string, right: string): Condition {
  return { yes: `${left} === ${right}`, no: `${left} !== ${right}` }
}

function call(name: string, expression: string): Condition {
  return { yes: `${name}(${expression})`, no: `!${name}(${expression})` }
}

function stringCondition(schema: StringSchema, expression: string, locals: Locals): Condition {
  const all: Condition[] = [compare(`typeof ${expression}`, quote('string'))]
  const { minLength, maxLength } = schema
  if (minLength !== undefined || maxLength !== undefined) {
    const bounds = `${expression}, ${minLength ?? 0}, ${maxLength ?? 'Infinity'}`
    all.push(call('hasLength', bounds))
  }
  if (schema.pattern !== undefined) all.push(call(`${locals.pattern(schema.pattern)}.test`, expression))
  if (schema.format === 'uuid') all.push(call('isUuid', expression))
  if (schema.format === 'date-time') all.push(call('isDateTime', expression))
  return { all }
}

function numberCondition(schema: NumberSchema, expression: string): Condition {
  const all = [call(schema.type === 'integer' ? 'isInteger' : 'isNumber', expression)]
  const bound = (limit: number | undefined, yes: string, no: string): void => {
    if (limit !== undefined) all.push({ yes: `${expression} ${yes} ${limit}`, no: `${expression} ${no} ${limit}` })
  }
  bound(schema.minimum, '>=', '<')
  bound(schema.exclusiveMinimum, '>', '<=')
  bound(schema.maximum, '<=', '>')
  bound(schema.exclusiveMaximum, '<', '>=')
  return { all }
}
