/** Which hooks a request may hold, and how they are stored (contract: conversations.md, section 10). */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { matcherOf, readHookConfig } from '../../../src/conversation/agent/hook-config.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/hook config')

const nothing = {
  pre_tool_use: [], post_tool_use: [], user_prompt_submit: [], session_start: [], session_end: [], stop: [],
}
const lint = { type: 'command', command: 'lint', tools: [], timeout: 60, max_iterations: 3, async: false }

/** Place and type of each issue. */
function issuesOf(value: Record<string, unknown>): string[] {
  try {
    readHookConfig(value)
    return []
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    assert.is(thrown.code, 'invalid_input')
    return thrown.issues.map(({ loc, type }) => `${loc.join('.')}: ${type}`)
  }
}

test('snake_case, PascalCase and a wrapper give the same form, with every list and default', () => {
  const list = [{ hooks: [{ command: 'lint' }] }]
  const form = { ...nothing, pre_tool_use: [{ matcher: '*', hooks: [lint] }] }
  for (const value of [
    { pre_tool_use: list }, { PreToolUse: list }, { hooks: { PreToolUse: list } }, { hooks: { pre_tool_use: list } },
  ]) {
    assert.equal(readHookConfig(value), form)
  }
  assert.equal(readHookConfig(form), form)
  assert.equal(readHookConfig({}), nothing)
})

test('hooks of the types prompt and agent are kept, with an empty command', () => {
  const hooks = [{ type: 'prompt', prompt: 'is it safe?' }, { type: 'agent', tools: ['grep'], name: 'judge' }]
  assert.equal(readHookConfig({ Stop: [{ hooks }] }).stop[0]?.hooks, [
    { type: 'prompt', command: '', prompt: 'is it safe?', tools: [], timeout: 60, max_iterations: 3, async: false },
    { type: 'agent', name: 'judge', command: '', tools: ['grep'], timeout: 60, max_iterations: 3, async: false },
  ])
})

const refused: readonly (readonly [name: string, value: Record<string, unknown>, issues: readonly string[]])[] = [
  ['a point that is named twice', { stop: [], Stop: [] }, ['body.hook_config.Stop: value_error']],
  ['an unknown name', { before_lunch: [] }, ['body.hook_config.before_lunch: extra_forbidden']],
  ['an unknown name in a wrapper', { hooks: { Lunch: [] } }, ['body.hook_config.hooks.Lunch: extra_forbidden']],
  ['a wrapper with something beside it', { hooks: {}, stop: [] }, ['body.hook_config.hooks: extra_forbidden']],
  ['a name of every object', { constructor: [] }, ['body.hook_config.constructor: extra_forbidden']],
  ['a command hook without a command', { stop: [{ hooks: [{}] }] },
    ['body.hook_config.stop.0.hooks.0.command: missing']],
  ['an empty command', { Stop: [{ hooks: [{ command: '' }] }] },
    ['body.hook_config.stop.0.hooks.0.command: string_too_short']],
  ['an unknown type', { stop: [{ hooks: [{ type: 'wish' }] }] },
    ['body.hook_config.stop.0.hooks.0: union_tag_invalid']],
  ['no time', { stop: [{ hooks: [{ command: 'x', timeout: 0 }] }] },
    ['body.hook_config.stop.0.hooks.0.timeout: greater_than']],
  ['more than a day', { stop: [{ hooks: [{ command: 'x', timeout: 90_000 }] }] },
    ['body.hook_config.stop.0.hooks.0.timeout: less_than_equal']],
  ['a list that is none', { stop: {} }, ['body.hook_config.stop: list_type']],
  ['what is no expression', { PreToolUse: [{}, { matcher: 'a(' }] },
    ['body.hook_config.pre_tool_use.1.matcher: value_error']],
  ['what is one only with brackets around it', { PreToolUse: [{ matcher: '/a)|(b/' }] },
    ['body.hook_config.pre_tool_use.0.matcher: value_error']],
]
for (const [name, value, issues] of refused) {
  test(`${name} is refused`, () => {
    assert.equal(issuesOf(value), issues)
  })
}

test('matchers are all, a name or an expression', () => {
  const rows: readonly (readonly [string, ReturnType<typeof matcherOf>])[] = [
    ['*', { type: 'all' }],
    ['', { type: 'all' }],
    ['terminal', { type: 'name', name: 'terminal' }],
    ['Bash(npm)', { type: 'expression', source: 'Bash(npm)' }],
    ['/terminal/', { type: 'expression', source: 'terminal' }],
    ['terminal|grep', { type: 'expression', source: 'terminal|grep' }],
    ['file_.*', { type: 'expression', source: 'file_.*' }],
    ['/', { type: 'name', name: '/' }],
    ['//', { type: 'name', name: '//' }],
  ]
  for (const [text, matcher] of rows) assert.equal(matcherOf(text), matcher, text)
})

test.run()
