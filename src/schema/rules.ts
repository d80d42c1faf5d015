/**
 * The messages for broken rules, with the texts that existing clients know (Pydantic 2 in the form of FastAPI;
 * contract/others.md, section 0.2).
 *
 * A message has a `type` for programs and a `msg` for people. It quotes nothing of the input but the tag of a union.
 */
import type { NumberSchema } from './spec/define.ts'

export interface Rule {
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, string | number>>
}

const plain = {
  missing: 'Field required',
  extra_forbidden: 'Extra inputs are not permitted',
  string_type: 'Input should be a valid string',
  int_type: 'Input should be a valid integer',
  int_from_float: 'Input should be a valid integer, got a number with a fractional part',
  int_parsing_size: 'Unable to parse input string as an integer, exceeded maximum size',
  float_type: 'Input should be a valid number',
  finite_number: 'Input should be a finite number',
  bool_type: 'Input should be a valid boolean',
  list_type: 'Input should be a valid list',
  dict_type: 'Input should be a valid dictionary',
  model_attributes_type: 'Input should be a valid dictionary or object to extract fields from',
  uuid_type: 'UUID input should be a string, bytes or UUID object',
  datetime_type: 'Input should be a valid datetime',
} as const

export function plainRule(type: keyof typeof plain): Rule {
  return { type, msg: plain[type] }
}

/** Returns the rule for a constant or an enumeration; its message lists the values: `'a', 'b' or 'c'`. */
export function literalRule(values: readonly string[]): Rule {
  const quoted = values.map((value) => `'${value}'`)
  const last = quoted.pop() ?? ''
  const expected = quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } }
}

export function tooShortRule(minLength: number): Rule {
  const msg = `String should have at least ${count(minLength, 'character')}`
  return { type: 'string_too_short', msg, ctx: { min_length: minLength } }
}

export function tooLongRule(maxLength: number): Rule {
  const msg = `String should have at most ${count(maxLength, 'character')}`
  return { type: 'string_too_long', msg, ctx: { max_length: maxLength } }
}

export function patternRule(pattern: string): Rule {
  return { type: 'string_pattern_mismatch', msg: `String should match pattern '${pattern}'`, ctx: { pattern } }
}

export function uuidRule(): Rule {
  const error = 'expected 32 hexadecimal digits, with dashes or without'
  return { type: 'uuid_parsing', msg: `Input should be a valid UUID, ${error}`, ctx: { error } }
}

export function dateTimeRule(): Rule {
  const error = 'expected an ISO 8601 date and time'
  return { type: 'datetime_parsing', msg: `Input should be a valid datetime, ${error}`, ctx: { error } }
}

export function tooFewRule(minLength: number, actualLength: number): Rule {
  const msg = `List should have at least ${count(minLength, 'item')} after validation, not ${actualLength}`
  return { type: 'too_short', msg, ctx: { field_type: 'List', min_length: minLength, actual_length: actualLength } }
}

export function tooManyRule(maxLength: number, actualLength: number): Rule {
  const msg = `List should have at most ${count(maxLength, 'item')} after validation, not ${actualLength}`
  return { type: 'too_long', msg, ctx: { field_type: 'List', max_length: maxLength, actual_length: actualLength } }
}

export function tooManyMembersRule(maxLength: number, actualLength: number): Rule {
  const msg = `Dictionary should have at most ${count(maxLength, 'item')} after validation, not ${actualLength}`
  const ctx = { field_type: 'Dictionary', max_length: maxLength, actual_length: actualLength }
  return { type: 'too_long', msg, ctx }
}

/** Returns the rule for the first bound that a number breaks, if any. */
export function boundRule(value: number, bounds: Omit<NumberSchema, 'type'>): Rule | undefined {
  const { minimum: ge, exclusiveMinimum: gt, maximum: le, exclusiveMaximum: lt } = bounds
  if (ge !== undefined && !(value >= ge)) {
    return { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${ge}`, ctx: { ge } }
  }
  if (gt !== undefined && !(value > gt)) {
    return { type: 'greater_than', msg: `Input should be greater than ${gt}`, ctx: { gt } }
  }
  if (le !== undefined && !(value <= le)) {
    return { type: 'less_than_equal', msg: `Input should be less than or equal to ${le}`, ctx: { le } }
  }
  if (lt !== undefined && !(value < lt)) {
    return { type: 'less_than', msg: `Input should be less than ${lt}`, ctx: { lt } }
  }
  return undefined
}

export function tagMissingRule(tag: string): Rule {
  const discriminator = `'${tag}'`
  const msg = `Unable to extract tag using discriminator ${discriminator}`
  return { type: 'union_tag_not_found', msg, ctx: { discriminator } }
}

export function tagUnknownRule(tag: string, found: unknown, expected: readonly string[]): Rule {
  const discriminator = `'${tag}'`
  const shown = typeof found === 'string' ? found.slice(0, 64) : typeof found
  const expectedTags = expected.map((value) => `'${value}'`).join(', ')
  const mismatch = `does not match any of the expected tags: ${expectedTags}`
  const msg = `Input tag '${shown}' found using ${discriminator} ${mismatch}`
  return { type: 'union_tag_invalid', msg, ctx: { discriminator, tag: shown, expected_tags: expectedTags } }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
