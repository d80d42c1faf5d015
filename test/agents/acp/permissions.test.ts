/** Answers to permission requests: every policy against the options of real agents. */
import * as assert from 'uvu/assert'
import { allowOnce, decide, deny, readOptions, shownOptions } from '../../../src/agents/acp/session/permissions.ts'
import type { ConfirmationPolicy } from '../../../src/schema/generated/conversations.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp permissions')

const offered = (...kinds: string[]): object[] => kinds.map((kind) => ({ optionId: `id-${kind}`, name: kind, kind }))
const claude = readOptions(offered('allow_once', 'allow_always', 'reject_once'))
const gemini = readOptions(offered('allow_always', 'allow_once', 'reject_once'))
const onlyAlways = readOptions(offered('allow_always', 'reject_always'))
const nothing = readOptions(null)

const never: ConfirmationPolicy = { kind: 'NeverConfirm' }
const always: ConfirmationPolicy = { kind: 'AlwaysConfirm' }
const risky = (confirm_unknown: boolean): ConfirmationPolicy => ({
  kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown,
})

const decisions: readonly (readonly [policy: ConfirmationPolicy, options: typeof claude, decision: string])[] = [
  [never, claude, 'allow'],
  [never, gemini, 'allow'],
  [never, onlyAlways, 'deny'],
  [never, nothing, 'deny'],
  [always, claude, 'ask'],
  [always, gemini, 'ask'],
  [always, onlyAlways, 'deny'],
  [risky(true), gemini, 'ask'],
  [risky(false), gemini, 'allow'],
  [risky(false), onlyAlways, 'deny'],
]

for (const [policy, options, decision] of decisions) {
  const kinds = options.map(({ kind }) => kind).join(', ')
  test(`${JSON.stringify(policy)}: ${decision} when offered [${kinds}]`, () => {
    assert.is(decide(policy, options).do, decision)
  })
}

test('selects by kind, never by place, and never for ever', () => {
  assert.equal(allowOnce(gemini), { outcome: { outcome: 'selected', optionId: 'id-allow_once' } })
  assert.equal(allowOnce(onlyAlways), { outcome: { outcome: 'cancelled' } })
  assert.equal(decide(never, gemini), { do: 'allow', optionId: 'id-allow_once' })
})

test('denies once, else for ever, else with cancelled', () => {
  assert.equal(deny(gemini), { outcome: { outcome: 'selected', optionId: 'id-reject_once' } })
  assert.equal(deny(onlyAlways), { outcome: { outcome: 'selected', optionId: 'id-reject_always' } })
  assert.equal(deny(nothing), { outcome: { outcome: 'cancelled' } })
})

test('reads options that are not as they should be', () => {
  assert.equal(readOptions([{ optionId: 'a' }, { name: 'no id' }, 'x', null]), [{ id: 'a', name: 'a', kind: '' }])
})

test('shows clients numbers instead of the ids that an agent made up, and only kinds of ACP', () => {
  const options = [{ id: 'SECRET', name: 'Run SECRET', kind: 'allow_once' }, { id: 'b', name: 'No', kind: 'SECRET' }]
  assert.equal(shownOptions(options, (text) => text.replace('SECRET', '***')), [
    { id: '0', name: 'Run ***', kind: 'allow_once' },
    { id: '1', name: 'No', kind: 'other' },
  ])
})

test.run()
