/** Queries: values by their description, and issues in the form existing clients know. */
import * as assert from 'uvu/assert'
import {
  boolean, dateTime, integer, list, oneOf, readQuery, required, text, uuid, withDefault, type QueryField,
} from '../../src/http/query.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/query')

/** The value of a parameter `q`, or the type of its issue. */
function read(field: QueryField<unknown>, query: string): unknown {
  const result = readQuery(query, { q: field })
  return result.ok ? result.value.q : `! ${result.issues.map((issue) => issue.type).join()}`
}

const id = '0190a1b2-c3d4-7000-8000-0123456789ab'
const table: readonly [string, QueryField<unknown>, string, unknown][] = [
  ['an integer', integer(), 'q=12', 12],
  ['a negative integer', integer(), 'q=-3', -3],
  ['an integer with a plus and blanks', integer(), 'q=%20%2B7%20', 7],
  ['an absent integer', integer(), 'p=1', undefined],
  ['the lowest allowed', integer({ min: 1, max: 100 }), 'q=1', 1],
  ['the highest allowed', integer({ min: 1, max: 100 }), 'q=100', 100],
  ['one below', integer({ min: 1, max: 100 }), 'q=0', '! greater_than_equal'],
  ['one above', integer({ min: 1, max: 100 }), 'q=101', '! less_than_equal'],
  ['an empty integer', integer(), 'q=', '! int_parsing'],
  ['a fraction', integer(), 'q=1.5', '! int_parsing'],
  ['a word for an integer', integer(), 'q=ten', '! int_parsing'],
  ['hexadecimal', integer(), 'q=0x10', '! int_parsing'],
  ['an exponent', integer(), 'q=1e3', '! int_parsing'],
  ['more digits than a number holds', integer(), 'q=9007199254740993', '! less_than_equal'],
  ['endless digits', integer(), `q=${'9'.repeat(400)}`, '! less_than_equal'],
  ...['true', '1', 'yes', 'on', 't', 'y', 'TRUE', 'On']
    .map((word) => [word, boolean(), `q=${word}`, true] as const)
    .map(mutable),
  ...['false', '0', 'no', 'off', 'f', 'n', 'False'].map((word) => [word, boolean(), `q=${word}`, false] as const).map(
    mutable,
  ),
  ['another word for a boolean', boolean(), 'q=maybe', '! bool_parsing'],
  ['a member of every object', boolean(), 'q=constructor', '! bool_parsing'],
  ['an empty boolean', boolean(), 'q=', '! bool_parsing'],
  ['a choice', oneOf(['UP', 'DOWN']), 'q=DOWN', 'DOWN'],
  ['a choice in another case', oneOf(['UP', 'DOWN']), 'q=down', '! enum'],
  ['a text', text(), 'q=a+b%26c%C3%A9', 'a b&cé'],
  ['an empty text', text(), 'q=', ''],
  ['a text at its limit', text({ maxLength: 2 }), 'q=ab', 'ab'],
  ['a text at its limit, of characters of two units', text({ maxLength: 1 }), 'q=%F0%9D%95%8B', '\u{1d54b}'],
  ['a text above its limit, of such characters', text({ maxLength: 1 }), 'q=%F0%9D%95%8Ba', '! string_too_long'],
  ['a text above its limit', text({ maxLength: 2 }), 'q=abc', '! string_too_long'],
  ['a time', dateTime(), 'q=1970-01-01T00:00:01.000002Z', 1_000_002],
  ['a time without an offset', dateTime(), 'q=1970-01-01T00:00:01', 1_000_000],
  ['a time with an offset', dateTime(), 'q=1970-01-01T01:00:00%2B01:00', 0],
  ['a word for a time', dateTime(), 'q=now', '! datetime_parsing'],
  ['a dashed id', uuid(), `q=${id.toUpperCase()}`, id],
  ['an id without dashes', uuid(), `q=${id.replaceAll('-', '')}`, id],
  ['an id with some dashes', uuid(), `q=${id.replace('-', '')}`, '! uuid_parsing'],
  ['an id with a letter too many', uuid(), `q=${id}0`, '! uuid_parsing'],
  ['the last of several', integer(), 'q=x&q=2', 2],
  ['a default', withDefault(integer(), 5), '', 5],
  ['a value before the default', withDefault(integer(), 5), 'q=6', 6],
  ['a wrong value, and no default for it', withDefault(integer(), 5), 'q=x', '! int_parsing'],
  ['an obligatory value', required(text()), 'q=a', 'a'],
  ['a missing obligatory value', required(text()), '', '! missing'],
  ['a wrong obligatory value', required(integer()), 'q=x', '! int_parsing'],
  ['a list', list(integer()), 'q=1&p=9&q=2', [1, 2]],
  ['an empty list', list(integer()), '', []],
  ['a list with a wrong item', list(integer()), 'q=1&q=x&q=y', '! int_parsing'],
]

function mutable<T extends readonly unknown[]>(row: T): [...T] {
  return [...row]
}

for (const [name, field, query, expected] of table) {
  test(`reads ${name}: ${query.slice(0, 60)}`, () => assert.equal(read(field, query), expected))
}

test('skips an item that its field leaves out', () => {
  assert.equal(read(list({ read: () => ({ ok: true, value: undefined }) }), 'q=1'), [])
})

test('gives types that follow from the description', () => {
  const fields = {
    limit: withDefault(integer({ min: 1, max: 100 }), 100), sort: oneOf(['UP', 'DOWN']), ids: list(uuid()),
  }
  const result = readQuery('limit=7&sort=UP', fields)
  assert.ok(result.ok)
  const { limit, sort, ids }: { limit: number; sort: 'UP' | 'DOWN' | undefined; ids: readonly string[] } = result.value
  assert.equal({ limit, sort, ids }, { limit: 7, sort: 'UP', ids: [] })
})

test('reports everything that is wrong at once, in the form of FastAPI', () => {
  const result = readQuery('limit=0&sort=x&flag=2&id=1&name=abc&at=x', {
    limit: integer({ min: 1, max: 100 }),
    sort: oneOf(['A', 'B', 'C']),
    flag: boolean(),
    id: uuid(),
    name: text({ maxLength: 2 }),
    must: required(text()),
    at: dateTime(),
  })
  assert.equal(result, {
    ok: false,
    issues: [
      {
        loc: ['query', 'limit'], type: 'greater_than_equal', msg: 'Input should be greater than or equal to 1',
        input: '0', ctx: { ge: 1 },
      },
      {
        loc: ['query', 'sort'], type: 'enum', msg: "Input should be 'A', 'B' or 'C'", input: 'x',
        ctx: { expected: "'A', 'B' or 'C'" },
      },
      {
        loc: ['query', 'flag'],
        type: 'bool_parsing',
        msg: 'Input should be a valid boolean, unable to interpret input',
        input: '2',
      },
      {
        loc: ['query', 'id'],
        type: 'uuid_parsing',
        msg: 'Input should be a valid UUID, expected 32 hexadecimal digits, dashed or not',
        input: '1',
        ctx: { error: 'expected 32 hexadecimal digits, dashed or not' },
      },
      {
        loc: ['query', 'name'], type: 'string_too_long', msg: 'String should have at most 2 characters', input: 'abc',
        ctx: { max_length: 2 },
      },
      { loc: ['query', 'must'], type: 'missing', msg: 'Field required', input: null },
      {
        loc: ['query', 'at'], type: 'datetime_parsing', msg: 'Input should be a valid datetime, expected ISO 8601',
        input: 'x', ctx: { error: 'expected ISO 8601' },
      },
    ],
  })
})

test('words a choice of one', () => {
  const result = readQuery('q=b', { q: oneOf(['a']) })
  assert.ok(!result.ok)
  assert.is(result.issues[0]?.msg, "Input should be 'a'")
})

test('ignores parameters that are not described', () => {
  assert.equal(readQuery('x=1&__proto__=2&limit=3', { limit: integer() }), { ok: true, value: { limit: 3 } })
})

test.run()
