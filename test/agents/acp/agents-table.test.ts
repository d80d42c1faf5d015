/** The table of agents names recordings that exist, and every recording of a kind that it tells of stands in it. */
import { readdirSync, readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { quirksOf } from '../../../src/agents/acp/session/quirks.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp agents table')
const root = new URL('../../../../', import.meta.url)
const table = readFileSync(new URL('src/agents/acp/agents.md', root), 'utf8')
const recorded = readdirSync(new URL('test/fixtures/acp-transcripts/', root)).map((file) => file.replace('.jsonl', ''))
const agents = ['claude', 'codex', 'gemini', 'opencode', 'qwen', 'copilot', 'cline', 'openhands']
const names = [
  ...new Set(table.match(new RegExp(`(?<=\`)(?:${agents.join('|')})-(?:[a-z]+\\d*|probe-nocreds)(?=\`)`, 'g'))),
]
  .filter((name) => !builtInProviders.some((provider) => provider.name === name || provider.prefix === name))

test('names only recordings that are replayed', () => {
  assert.ok(names.length > 20)
  assert.equal(names.filter((name) => !recorded.includes(name)), [])
})

test('names every recording of outputs, edits and failures', () => {
  const told = recorded.filter((name) => /-(?:output|edit|fail\d+)$/.test(name))
  assert.equal(told.filter((name) => !names.includes(name)), [])
})

test('has two rows for every agent, and the quirks of every provider say where they were seen', () => {
  for (const { name } of builtInProviders) assert.is.not(quirksOf(name).evidence, '', name)
  const rows = table.split('\n').filter((line) => {
    return /^\| (?:Claude|Codex|Gemini|opencode|Qwen|Copilot|Cline|OpenHands) ?/.test(line)
  })
  assert.is(rows.length, 2 * agents.length)
})

test.run()
