import * as assert from 'uvu/assert'
import type { Issue } from '../../src/base/errors.ts'
import { maxJsonDepth } from '../../src/base/json.ts'
import { check, issueLimit, parse } from '../../src/schema/check.ts'
import { isEvent } from '../../src/schema/generated/events.ts'
import { McpServer } from '../../src/schema/generated/settings.ts'
import { Message } from '../../src/schema/generated/values.ts'
import { suite } from '../support/suite.ts'
import { generatedTypes } from './generated-code.ts'

const test = suite('schema check')

test('gives the normal form of what is valid', () => {
  assert.equal(parse(Message, { role: 'user', content: 'hi' }), {
    ok: true,
    value: { role: 'user', content: [{ cache_prompt: false, type: 'text', text: 'hi' }], thinking_blocks: [] },
  })
})

test('explains what is not valid in the words of FastAPI', () => {
  const input = { role: 'robot', content: [{ type: 'text' }], name: 1 }
  assert.equal(parse(Message, input), {
    ok: false,
    issues: [
      {
        loc: ['role'],
        type: 'literal_error',
        msg: "Input should be 'user', 'system', 'assistant' or 'tool'",
        ctx: { expected: "'user', 'system', 'assistant' or 'tool'" },
        input: 'robot',
      },
      { loc: ['content', 0, 'text'], type: 'missing', msg: 'Field required', input: { type: 'text' } },
      { loc: ['name'], type: 'string_type', msg: 'Input should be a valid string', input: 1 },
    ],
  })
})

test('has a text and the figures for every rule', () => {
  const longTitle = 'x'.repeat(201)
  const cases: readonly (readonly [name: string, value: unknown, msg: string, ctx?: Issue['ctx']])[] = [
    ['Condenser', { keep_first: -1 }, 'Input should be greater than or equal to 0', { ge: 0 }],
    ['CriticResult', { score: 2, message: null }, 'Input should be less than or equal to 1', { le: 1 }],
    ['Condenser', { minimum_progress: 0 }, 'Input should be greater than 0', { gt: 0 }],
    ['Condenser', { minimum_progress: 1 }, 'Input should be less than 1', { lt: 1 }],
    ['Condenser', { minimum_progress: Infinity }, 'Input should be a finite number'],
    ['Condenser', { keep_first: '2' }, 'Input should be a valid integer'],
    ['Condenser', { keep_first: 2.5 }, 'Input should be a valid integer, got a number with a fractional part'],
    ['Condenser', { keep_first: 2 ** 60 }, 'Unable to parse input string as an integer, exceeded maximum size'],
    ['Condenser', { enabled: 1 }, 'Input should be a valid boolean'],
    ['UpdateConversationRequest', { title: '' }, 'String should have at least 1 character', { min_length: 1 }],
    ['UpdateConversationRequest', { title: longTitle }, 'String should have at most 200 characters',
      { max_length: 200 }],
    ['UpdateConversationRequest', { tags: { 'A b': '' } }, "String should match pattern '^[a-z0-9]+$'",
      { pattern: '^[a-z0-9]+$' }],
    ['UpdateConversationRequest', { tags: [] }, 'Input should be a valid dictionary'],
    ['ConversationBatchQuery', { ids: [] }, 'List should have at least 1 item after validation, not 0',
      { field_type: 'List', min_length: 1, actual_length: 0 }],
    ['ConversationBatchQuery', { ids: Array(100).fill('x') },
      'List should have at most 99 items after validation, not 100',
      { field_type: 'List', max_length: 99, actual_length: 100 }],
    ['Content', { type: 'audio' },
      "Input tag 'audio' found using 'type' does not match any of the expected tags: 'text', 'image'",
      { discriminator: "'type'", tag: 'audio', expected_tags: "'text', 'image'" }],
    ['Action', {}, "Unable to extract tag using discriminator 'kind'", { discriminator: "'kind'" }],
    ['PauseEvent', { kind: 'PauseEvent', x: 1 }, 'Extra inputs are not permitted'],
    ['PauseEvent', [], 'Input should be a valid dictionary or object to extract fields from'],
    ['SettingsPatch', { active_agent_profile_id: 1 }, 'UUID input should be a string, bytes or UUID object'],
    ['EventSearchQuery', { timestamp__lt: 1 }, 'Input should be a valid datetime'],
  ]
  for (const [name, value, msg, ctx] of cases) {
    const issue = check(name, value)[0]
    assert.is(issue?.msg, msg)
    assert.equal(issue?.ctx, ctx, msg)
  }
})

test('cuts the tag that it quotes', () => {
  const [issue] = check('Action', { kind: 'x'.repeat(1_000_000) })
  assert.is(issue?.ctx?.['tag'], 'x'.repeat(64))
})

test('says of a map with too many members how many there are, and looks at none of them', () => {
  const tags = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`t${index}`, 7]))
  const [issue, ...others] = check('UpdateConversationRequest', { tags })
  assert.is(issue?.msg, 'Dictionary should have at most 100 items after validation, not 101')
  assert.equal([issue?.type, issue?.ctx], [
    'too_long', { field_type: 'Dictionary', max_length: 100, actual_length: 101 },
  ])
  assert.is(others.length, 0)
})

test('stops at a limit of issues', () => {
  const hostile = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`m${index}`, index]))
  assert.is(check('PauseEvent', { kind: 'PauseEvent', ...hostile }).length, issueLimit)
  assert.is(check('Message', { role: 'user', content: Array(1_000_000).fill(0) }).length, issueLimit)
  assert.is(check('LLM', { extra_headers: hostile }).length, issueLimit)
})

test('walks a million items without trouble', () => {
  const ids: unknown[] = Array(1_000_000).fill(7)
  const tokens = { kind: 'TokenEvent', source: 'agent', prompt_token_ids: ids, response_token_ids: [] }
  assert.ok(isEvent(tokens))
  assert.equal(check('Event', tokens), [])
  const last = { ...tokens, prompt_token_ids: [...ids, 'x'] }
  assert.not(isEvent(last))
  assert.equal(check('Event', last)[0]?.loc, ['prompt_token_ids', 1_000_000])
})

test('never throws on hostile input', () => {
  const deep: unknown = JSON.parse('['.repeat(maxJsonDepth) + ']'.repeat(maxJsonDepth))
  const deepObject: unknown = JSON.parse('{"value":'.repeat(5000) + '1' + '}'.repeat(5000))
  const values: unknown[] = [
    deep, deepObject, Symbol.iterator, undefined, '\ud800'.repeat(10_000), Infinity, Object.create(null), new Map(),
    JSON.parse('{"__proto__":{"kind":"PauseEvent"}}'), JSON.parse('{"kind":{"toString":null},"type":{"valueOf":1}}'),
    JSON.parse('{"constructor":{"prototype":{"kind":"PauseEvent"}},"hasOwnProperty":1}'),
  ]
  for (const type of generatedTypes) {
    for (const value of values) {
      assert.is(type.is(value), check(type.name, value).length === 0, `${type.name} ${String(typeof value)}`)
    }
  }
})

test('does not take members from what a member named __proto__ holds', () => {
  const value: unknown = JSON.parse('{"kind":"PauseEvent","__proto__":{"source":"user"}}')
  assert.not(isEvent(value))
  assert.equal(check('Event', value).map(({ loc, type }) => [loc, type]), [[['__proto__'], 'extra_forbidden']])
})

test('keeps a map entry named __proto__ an ordinary entry', () => {
  const parsed = parse(McpServer, JSON.parse('{"env":{"__proto__":"x"}}'))
  assert.is(JSON.stringify(parsed), '{"ok":true,"value":{"env":{"__proto__":"x"},"enabled":true}}')
})

test('does not quote secret members', () => {
  const issues = [
    ...check('SecretWrite', { value: 'hunter2hunter2' }),
    ...check('SecretWrite', { name: 'A', value: ['hunter2hunter2'] }),
    ...check('LLM', { model: 'a', api_key: ['hunter2hunter2'] }),
    ...check('McpServer', { env: { A: { b: 'hunter2hunter2' } } }),
    ...check('StartConversationRequest', { secrets: { A: 'hunter2hunter2' } }),
    ...check('McpAuth', { strategy: 'basic', password: 'hunter2hunter2' }),
    ...check('McpAuth', { strategy: 'header', headers: { a: 'x', b: ['hunter2hunter2'] } }),
  ]
  assert.is(issues.length, 7)
  assert.not.match(JSON.stringify(issues), 'hunter2')
})

test('says that there is no such type', () => {
  assert.throws(() => check('Nonsense', {}), (error: unknown) => error instanceof TypeError)
})

test.run()
