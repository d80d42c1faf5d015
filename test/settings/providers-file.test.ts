/** Whether a providers file adds and changes entries, and its mistakes are named. */
import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { memberAt, objectOf } from '../../src/base/fields.ts'
import { withProvidersFile } from '../../src/settings/providers-file.ts'
import { providersSchema, unmetExpectationsOf } from '../../src/settings/providers-shape.ts'
import { builtInProviders } from '../../src/settings/providers-table.ts'
import { resolveAcp } from '../../src/settings/providers.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/providers-file')

const own = { command: ['my-agent'], prefix: 'my-agent', defaultModel: 'm1' }

test('changes members of a built-in provider and keeps the rest', () => {
  const providers = withProvidersFile(builtInProviders, { codex: { version: '3.0.0', command: ['codex-acp'] } })
  const [before, after] = [builtInProviders, providers].map((list) => list.find(({ name }) => name === 'codex'))
  assert.equal(after, { ...before, version: '3.0.0', command: ['codex-acp'] })
  assert.equal(providers.map(({ name }) => name), builtInProviders.map(({ name }) => name))
})

const manual = readFileSync(new URL('../../../src/agents/acp/README.md', import.meta.url), 'utf8')

test('reads the example of the manual', () => {
  const [, example = ''] = /<!-- providers -->\n```json\n([^]*?)```/.exec(manual) ?? []
  const providers = withProvidersFile(builtInProviders, JSON.parse(example))
  assert.equal(providers.slice(builtInProviders.length).map((provider) => provider.name), ['my-agent'])
  assert.equal(resolveAcp({ acp_server: 'custom', acp_command: ['my-agent'] }, providers).command, [
    '/opt/my-agent/bin/my-agent', '--acp',
  ])
  assert.equal(resolveAcp({ acp_server: 'codex', acp_command: [] }, providers).command, ['/opt/codex-acp/codex-acp'])
})

test('the manual lists the agents of the table with their pinned versions', () => {
  for (const { name, displayName, version } of builtInProviders.slice(3)) {
    assert.ok(manual.includes(`| \`${name}\` | ${displayName} | ${version} |`), name)
  }
})

test('the schema names every member of an entry, and what the table holds fits it', () => {
  const entry = memberAt(providersSchema(), 'additionalProperties')
  const known = Object.keys(objectOf(memberAt(entry, 'properties')))
  const [claude] = builtInProviders
  assert.equal(known.sort(), Object.keys(claude ?? {}).filter((member) => member !== 'name').sort())
  for (const provider of builtInProviders) assert.equal(unmetExpectationsOf(provider), [], provider.name)
  assert.equal(memberAt(entry, 'additionalProperties'), false)
  assert.equal(memberAt(entry, 'properties', 'homeVariable'), { type: 'string', minLength: 1, default: 'HOME' })
  assert.equal(objectOf(memberAt(entry, 'properties', 'command'))['prefixItems'], [{ type: 'string', minLength: 1 }])
  assert.match(JSON.stringify(memberAt(entry, 'properties', 'login')), /"required":\["folder","file"/)
})

test('adds a provider behind the built-in ones', () => {
  const providers = withProvidersFile(builtInProviders, { mine: own })
  assert.is(providers.length, builtInProviders.length + 1)
  const mine = providers.at(-1)
  assert.is(mine?.name, 'mine')
  assert.is(mine?.displayName, 'mine')
  assert.is(mine?.login, null)
  assert.equal(mine?.command, ['my-agent'])
  assert.equal([mine?.defaults, mine?.homeVariable], [{}, 'HOME'])
})

test('takes a login rule with a choice, and takes it away with null', () => {
  const [claude] = builtInProviders
  const login = { ...claude?.login, choice: { file: 'settings.json', path: ['a'], login: ['b'] } }
  assert.equal(withProvidersFile([], { mine: { ...own, login } })[0]?.login, login)
  assert.is(withProvidersFile(builtInProviders, { 'claude-code': { login: null } })[0]?.login, null)
})

const wrong: readonly (readonly [string, unknown, RegExp])[] = [
  ['a default that is no text', { mine: { ...own, defaults: { A: 1 } } }, /"defaults" to be an object of strings/],
  ['no object', [], /expected an object of entries/],
  ['an entry that is no object', { mine: 'x' }, /"mine" .*expected an object/],
  ['a name with capitals', { Mine: own }, /"Mine" .*small letters/],
  ['the name "custom"', { custom: own }, /"custom" .*another name/],
  ['a hostile name', JSON.parse('{"__proto__":{}}'), /"__proto__" .*small letters/],
  ['a new provider without its command', { mine: { ...own, command: undefined } },
    /"command" to be an array of strings/],
  ['an empty command', { mine: { ...own, command: [] } }, /"command"/],
  ['a command without a program', { mine: { ...own, command: [''] } }, /"command" .*the first of which is not empty/],
  ['a command without a program but with arguments', { mine: { ...own, command: ['', '--acp'] } }, /"command"/],
  ['an empty prefix, which every command would match', { mine: { ...own, prefix: '' } }, /"prefix"/],
  ['a misspelt member', { mine: { ...own, pefix: 'x' } }, /no member "pefix"/],
  ['a wrong flag', { mine: { ...own, configDirStripsKey: 'yes' } }, /"configDirStripsKey" to be true or false/],
  ['a wrong way for the base URL', { mine: { ...own, baseUrlVia: 'magic' } },
    /"baseUrlVia" to be one of environment, codex-config, gateway/],
  ['modes that lack a member', { mine: { ...own, modes: { asking: 'a' } } },
    /"modes" to be an object of asking, open, moreOpen/],
  ['modes that are no object', { mine: { ...own, modes: 'a' } }, /"modes"/],
  ['a login file outside its folder', { mine: { ...own, login: { ...builtInProviders[0]?.login, file: '../x' } } },
    /"login"/],
]
for (const [name, file, message] of wrong) {
  test(`refuses ${name}`, () => assert.throws(() => withProvidersFile(builtInProviders, file), message))
}

test.run()
