/** The run of a sub-agent whose action the parent's user denies. */
import * as assert from 'uvu/assert'
import { AppError, type ErrorCode } from '../../../src/base/errors.ts'
import { runSub } from '../../../src/conversation/list/sub-run.ts'
import { act, failureOf, withConversation } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/list/sub-run')

const cases: readonly (readonly [code: ErrorCode, outcome: string])[] = [
  ['storage_full', 'storage_full'],
  ['already_running', 'done'],
]

for (const [code, outcome] of cases) {
  test(`after a denial, ${code} of the next run ends the task as: ${outcome}`, () => {
    return withConversation(async (conversation, world) => {
      world.scripts.push((turn) => {
        // Only actions of a stepping agent wait already while the run records its end.
        Object.assign(world.agents[0] ?? {}, { isStepping: true })
        turn.record(act('one'))
        return { outcome: 'waiting', served: true }
      })
      conversation.run = () => Promise.reject(new AppError(code, 'No run'))
      const { signal } = new AbortController()
      const end = runSub(conversation, {
        text: 'work',
        allowance: { takeStep: () => true, budgetSpent: () => undefined, usage: () => undefined },
        policy: { kind: 'NeverConfirm' },
        analyzer: null,
        signal,
        pausing: signal,
        ask: async () => ({ outcome: 'denied', reason: 'no' }),
      })
      assert.is(await failureOf(end), outcome)
    }, { agent: { kind: 'Agent' } })
  })
}

test.run()
