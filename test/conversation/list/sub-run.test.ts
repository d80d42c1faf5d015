/** The run of a sub-agent whose actions wait for the parent's user. */
import * as assert from 'uvu/assert'
import { AppError, type ErrorCode } from '../../../src/base/errors.ts'
import { runSub, type SubRun } from '../../../src/conversation/list/sub-run.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import type { Sink } from '../../../src/conversation/log/feed.ts'
import {
  act, failureOf, finished, observe, until, withConversation, type World,
} from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/list/sub-run')

const { signal } = new AbortController()
const run: Omit<SubRun, 'ask'> = {
  text: 'work',
  allowance: { takeStep: () => true, budgetSpent: () => undefined, usage: () => undefined },
  policy: { kind: 'NeverConfirm' },
  analyzer: null,
  signal,
  pausing: signal,
}

/** Has the agent end its next run with this action waiting. Only a stepping agent can wait while a run ends. */
function asksAbout(id: string, { scripts, agents }: World): void {
  scripts.push((turn) => {
    Object.assign(agents[0] ?? {}, { isStepping: true })
    for (const actionId of turn.approved) turn.record(observe('one', actionId))
    turn.record(act(id))
    return { outcome: 'waiting', served: true }
  })
}

const cases: readonly (readonly [code: ErrorCode, outcome: string])[] = [
  ['storage_full', 'storage_full'],
  ['already_running', 'done'],
]

for (const [code, outcome] of cases) {
  test(`after a denial, ${code} of the next run ends the task as: ${outcome}`, () => {
    return withConversation(async (conversation, world) => {
      asksAbout('one', world)
      conversation.run = () => Promise.reject(new AppError(code, 'No run'))
      const end = runSub(conversation, { ...run, ask: async () => ({ outcome: 'denied', reason: 'no' }) })
      assert.is(await failureOf(end), outcome)
    }, { agent: { kind: 'Agent' } })
  })
}

test('an answer about actions that another client has approved does not apply to the actions of the next step', () => {
  return withConversation(async (conversation, world) => {
    asksAbout('one', world)
    asksAbout('two', world)
    world.scripts.push(() => finished)
    const asked: (string | undefined)[] = []
    holdFrames(conversation)
    const ask: SubRun['ask'] = async () => {
      asked.push(conversation.confirmations()[0]?.tool_call_id)
      if (asked.length > 1) return { outcome: 'accepted' }
      await conversation.respond({ accept: true, reason: '' })
      await until(() => conversation.confirmations()[0]?.tool_call_id === 'two')
      return { outcome: 'accepted' }
    }
    assert.is((await runSub(conversation, { ...run, ask })).status, 'finished')
    assert.equal(asked, ['one', 'two'])
  }, { agent: { kind: 'Agent' } })
})

/** Holds back the frames of every reader, as for a reader that is busy with a long event. */
function holdFrames(conversation: Conversation): void {
  const join = conversation.join.bind(conversation)
  conversation.join = ({ sink, ...options }) => {
    const held: Sink = { write: () => true, end: (reason, next) => sink.end(reason, next) }
    return join({ ...options, sink: held })
  }
}

test.run()
