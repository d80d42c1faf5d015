/**
 * Reads the query of a request into typed values, by a description such as `{ page_id: uuid() }`.
 *
 * The faults of all parameters are returned together, as issues (contract/others.md, section 0.2). Unknown parameters
 * are ignored. Of a repeated parameter, `list` reads all values, and any other field reads the last value.
 */
import type { Issue } from '../base/errors.ts'
import { canonicalUuid, parseMicros } from '../base/stamp.ts'

/** Reads one parameter of a query. `values` has all values of the parameter, as sent and in order. */
export interface QueryField<T> {
  read(values: readonly string[]): Reading<T>
}

export type Reading<T> = { readonly ok: true; readonly value: T } | QueryFault

/** Describes a wrong value: an issue, to which `readQuery` adds `loc`. */
export interface QueryFault {
  readonly ok: false
  readonly fault: Omit<Issue, 'loc'>
}

export type QueryFields = Readonly<Record<string, QueryField<unknown>>>

export type QueryValues<F extends QueryFields> = {
  readonly [Name in keyof F]: F[Name] extends QueryField<infer T> ? T : never
}

export type QueryResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** Reads a query (without its `?`). `loc` of every issue is `['query', name]`. */
export function readQuery<F extends QueryFields>(query: string, fields: F): QueryResult<QueryValues<F>>
export function readQuery(query: string, fields: QueryFields): QueryResult<Record<string, unknown>> {
  const sent = new URLSearchParams(query)
  const value: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const [name, field] of Object.entries(fields)) {
    const reading = field.read(sent.getAll(name))
    if (reading.ok) value[name] = reading.value
    else issues.push({ loc: ['query', name], ...reading.fault })
  }
  return issues.length === 0 ? { ok: true, value } : { ok: false, issues }
}

/** Makes a parameter required: a missing parameter has the fault `missing`. */
export function required<T>(field: QueryField<T | undefined>): QueryField<T> {
  return {
    read: (values) => {
      const reading = field.read(values)
      if (!reading.ok) return reading
      if (reading.value !== undefined) return { ok: true, value: reading.value }
      return fault('missing', 'Field required', null)
    },
  }
}

/** Gives a missing parameter the value `absent`. */
export function withDefault<T>(field: QueryField<T | undefined>, absent: T): QueryField<T> {
  return {
    read: (values) => {
      const reading = field.read(values)
      return reading.ok ? { ok: true, value: reading.value ?? absent } : reading
    },
  }
}

/** Reads all values of a parameter, in order, each by `field`. Returns the fault of the first wrong value only. */
export function list<T>(field: QueryField<T | undefined>): QueryField<readonly T[]> {
  return {
    read: (values) => {
      const items: T[] = []
      for (const value of values) {
        const reading = field.read([value])
        if (!reading.ok) return reading
        if (reading.value !== undefined) items.push(reading.value)
      }
      return { ok: true, value: items }
    },
  }
}

export function text(options: { readonly maxLength?: number } = {}): QueryField<string | undefined> {
  const { maxLength = Infinity } = options
  return single((value) => {
    // A character is a code point, as in JSON Schema. `length` counts some characters as two.
    if (value.length <= maxLength || [...value].length <= maxLength) return { ok: true, value }
    const msg = `String should have at most ${maxLength} characters`
    return fault('string_too_long', msg, value, { max_length: maxLength })
  })
}

export interface IntegerOptions {
  readonly min?: number
  readonly max?: number
}

export function integer(options: IntegerOptions = {}): QueryField<number | undefined> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options
  return single((value) => {
    const number = /^[+-]?\d+$/.test(value.trim()) ? Number(value) : NaN
    if (Number.isNaN(number)) {
      return fault('int_parsing', 'Input should be a valid integer, unable to parse string as an integer', value)
    }
    if (number < min) {
      return fault('greater_than_equal', `Input should be greater than or equal to ${min}`, value, { ge: min })
    }
    if (number > max) {
      return fault('less_than_equal', `Input should be less than or equal to ${max}`, value, { le: max })
    }
    return { ok: true, value: number }
  })
}

const yes = new Set(['true', 't', '1', 'yes', 'y', 'on'])
const no = new Set(['false', 'f', '0', 'no', 'n', 'off'])

export function boolean(): QueryField<boolean | undefined> {
  return single((value) => {
    const word = value.toLowerCase()
    if (yes.has(word) || no.has(word)) return { ok: true, value: yes.has(word) }
    return fault('bool_parsing', 'Input should be a valid boolean, unable to interpret input', value)
  })
}

export function oneOf<const T extends string>(choices: readonly T[]): QueryField<T | undefined> {
  const quoted = choices.map((choice) => `'${choice}'`)
  const expected = [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(' or ')
  return single((value) => {
    const choice = choices.find((candidate) => candidate === value)
    if (choice !== undefined) return { ok: true, value: choice }
    return fault('enum', `Input should be ${expected}`, value, { expected })
  })
}

/** Reads an ISO 8601 time as microseconds since the epoch. The default zone is UTC. */
export function dateTime(): QueryField<number | undefined> {
  return single((value) => {
    const micros = parseMicros(value)
    if (micros !== undefined) return { ok: true, value: micros }
    const error = 'expected ISO 8601'
    return fault('datetime_parsing', `Input should be a valid datetime, ${error}`, value, { error })
  })
}

/** Reads a UUID, with or without dashes, in upper or lower case. The result is in lower case with dashes. */
export function uuid(): QueryField<string | undefined> {
  return single((value) => {
    if (canonicalUuid.test(value)) return { ok: true, value }
    const digits = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i.test(value)
    if (digits) return { ok: true, value: dashed(value.replaceAll('-', '').toLowerCase()) }
    const error = 'expected 32 hexadecimal digits, dashed or not'
    return fault('uuid_parsing', `Input should be a valid UUID, ${error}`, value, { error })
  })
}

function single<T>(read: (value: string) => Reading<T>): QueryField<T | undefined> {
  return {
    read: (values) => {
      const last = values.at(-1)
      return last === undefined ? { ok: true, value: undefined } : read(last)
    },
  }
}

function fault(type: string, msg: string, input: unknown, ctx?: Issue['ctx']): QueryFault {
  return { ok: false, fault: ctx === undefined ? { type, msg, input } : { type, msg, input, ctx } }
}

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
