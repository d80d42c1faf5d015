/** Policies, risks and analyzers against batches of actions. */
import * as assert from 'uvu/assert'
import { needsConfirmation, type JudgedAction } from '../../../src/parts/builtin/confirmation.ts'
import type { ConfirmationPolicy } from '../../../src/schema/generated/conversations.ts'
import type { SecurityRisk } from '../../../src/schema/generated/values.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/confirmation')

const never: ConfirmationPolicy = { kind: 'NeverConfirm' }
const always: ConfirmationPolicy = { kind: 'AlwaysConfirm' }

function risky(threshold: 'LOW' | 'MEDIUM' | 'HIGH', confirm_unknown: boolean): ConfirmationPolicy {
  return { kind: 'ConfirmRisky', threshold, confirm_unknown }
}

function glob(risk: SecurityRisk): JudgedAction {
  return { action: { kind: 'GlobAction', pattern: '*' }, risk }
}

const think: JudgedAction = { action: { kind: 'ThinkAction', thought: 'hm' }, risk: 'UNKNOWN' }
const finish: JudgedAction = { action: { kind: 'FinishAction', message: 'done' }, risk: 'UNKNOWN' }

test('an answer that only thinks or finishes never waits', () => {
  for (const batch of [[], [think], [finish], [think, finish]]) {
    assert.is(needsConfirmation(batch, { policy: always, hasAnalyzer: true }), false)
  }
})

test('never and always do not look at the risk', () => {
  for (const risk of ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'] as const) {
    assert.is(needsConfirmation([glob(risk)], { policy: never, hasAnalyzer: true }), false)
    assert.is(needsConfirmation([glob(risk)], { policy: always, hasAnalyzer: true }), true)
  }
})

test('a risk at the threshold or above it waits', () => {
  const order = ['LOW', 'MEDIUM', 'HIGH'] as const
  for (const [wanted, threshold] of order.entries()) {
    for (const [level, risk] of order.entries()) {
      const asked = needsConfirmation([glob(risk)], { policy: risky(threshold, true), hasAnalyzer: true })
      assert.is(asked, level >= wanted, `${risk} under ${threshold}`)
    }
  }
})

test('an unknown risk waits as the policy says', () => {
  assert.is(needsConfirmation([glob('UNKNOWN')], { policy: risky('LOW', true), hasAnalyzer: true }), true)
  assert.is(needsConfirmation([glob('UNKNOWN')], { policy: risky('LOW', false), hasAnalyzer: true }), false)
})

test('without an analyzer a declared risk counts as unknown', () => {
  assert.is(needsConfirmation([glob('HIGH')], { policy: risky('LOW', false), hasAnalyzer: false }), false)
  assert.is(needsConfirmation([glob('LOW')], { policy: risky('HIGH', true), hasAnalyzer: false }), true)
})

test("an action with the user's yes only waits under each policy that asks at all", () => {
  const batch = [glob('LOW'), { ...glob('LOW'), asks: true }]
  assert.is(needsConfirmation(batch, { policy: risky('HIGH', false), hasAnalyzer: true }), true)
  assert.is(needsConfirmation(batch, { policy: risky('HIGH', false), hasAnalyzer: false }), true)
  assert.is(needsConfirmation(batch, { policy: never, hasAnalyzer: true }), false)
})

test('one risky action makes the whole batch wait', () => {
  const batch = [think, glob('LOW'), glob('HIGH')]
  assert.is(needsConfirmation(batch, { policy: risky('HIGH', false), hasAnalyzer: true }), true)
})

test.run()
