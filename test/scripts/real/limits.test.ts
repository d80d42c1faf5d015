/** The known limits of real agents: each about an agent and a scenario that there are, with evidence. */
import { existsSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { realAgents } from '../../../scripts/real/agents.ts'
import { isKnown, limits, limitsOf } from '../../../scripts/real/limits.ts'
import { scenarios } from '../../../scripts/real/scenarios.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { suite } from '../../support/suite.ts'

const test = suite('real agents')

test('every agent of the provider table is driven, in the pinned version', () => {
  const driven = realAgents.map(({ provider, package: { version } }) => `${provider} ${version}`)
  assert.equal(driven, builtInProviders.map(({ name, version }) => `${name} ${version}`))
})

test('a limit is about an agent and a scenario that there are, and names files that there are', () => {
  for (const { agent, scenarios: named, evidence } of limits) {
    assert.ok(realAgents.some(({ provider }) => provider === agent), agent)
    for (const scenario of named) assert.ok(scenarios.some(({ name }) => name === scenario), scenario)
    for (const [path] of evidence.matchAll(/test\/[\w./-]+\.(?:jsonl|ts)/g)) {
      assert.ok(existsSync(new URL(`../../../../${path}`, import.meta.url)), path)
    }
  }
})

test('a limit explains the checks that it names, of its agent and scenario', () => {
  const known = { agent: 'a', scenarios: ['s'], checks: ['the title'], limit: '', evidence: '' }
  assert.equal([isKnown('the title is told', [known]), isKnown('the command is told', [known])], [true, false])
  assert.is(isKnown('the title is told', [{ ...known, checks: [] }]), false)
  assert.equal(limitsOf('nobody', 's'), [])
})

test.run()
