/** Questions beside the work: asked of a copy of the session, which may do nothing and leaves nothing. */
import * as assert from 'uvu/assert'
import { AppError, messageOf } from '../../../src/base/errors.ts'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { startChild } from '../../../src/process/child.ts'
import { suite } from '../../support/suite.ts'
import { manualTimers } from './manual-timers.ts'
import { secret } from './memory-host.ts'
import { withAgent } from './with-agent.ts'

const test = suite('acp agent: aside')
const finished: TurnEnd = { outcome: 'finished', served: true }
const nobody = new AbortController().signal

async function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'done', (error: unknown) => {
    return (error instanceof AppError ? `${error.code}: ${error.message}` : messageOf(error))
  })
}

test('answers from a copy of the session, denied every permission, masked, counted, without a trace', async () => {
  const closed: string[] = []
  const startProcess: typeof startChild = async (options) => {
    const child = await startChild(options)
    const stderrTail = child.stderrTail.bind(child)
    const stop = child.stop.bind(child)
    child.stop = (how) => {
      closed.push(stderrTail())
      return stop(how)
    }
    return child
  }
  await withAgent('fork', async ({ agent, host }) => {
    await agent.runTurn(host.turn('one'))
    const before = [...host.events]
    const { text, usage } = await agent.askAside('How far are you?', nobody)
    assert.match(
      text,
      /^aside <session>-copy <secret-hidden> \{"outcome":\{"outcome":"selected","optionId":"no"\}\}.*How far are you\?/,
    )
    assert.equal(usage, { usageId: 'acp-managed', model: 'small', promptTokens: 5, cost: 0.125, costSource: 'derived' })
    assert.equal(host.events, before)
    assert.equal(await agent.runTurn(host.turn('two')), finished)
    await agent.close()
    assert.match(closed.join(), /session\/close session-\d+-copy\nsession\/delete session-\d+-copy/)
  }, { options: { startProcess } })
})

test('is answered while a turn runs, which goes on', () => withAgent('fork-waits', async ({ agent, host }) => {
  const turn = host.turn('one')
  const ended = agent.runTurn(turn)
  await host.seen(/working/)
  assert.match((await agent.askAside('And now?', nobody)).text, 'And now?')
  turn.stop()
  assert.equal(await ended, { outcome: 'stopped', served: true })
}))

test(
  'starts the agent if need be, of which the next turn tells, and asks a new session where there is none',
  () => withAgent('fork', async ({ agent, host }) => {
    host.past = 'User: before'
    const { text } = await agent.askAside('Who are you?', nobody)
    assert.match(text, '> User: before')
    assert.equal(host.events, [])
    await agent.runTurn(host.turn('one'))
    assert.equal(host.events.map(({ kind }) => kind), ['SystemPromptEvent', 'MessageEvent'])
  }),
)

const failures: readonly (readonly [behaviour: string, failure: RegExp])[] = [
  ['echo', /^bad_request: Cannot ask the agent beside its work: it cannot copy its session$/],
  ['fork-fails', /^agent_failed: Cannot copy the session: \[-32603\] Cannot copy <secret-hidden>$/],
  ['fork-nameless', /^agent_failed: Cannot copy the session: the agent named no new session$/],
  ['fork-refusal', /^agent_failed: The agent refused to go on$/],
  ['fork-dies', /^agent_failed: Cannot ask the agent: /],
  ['fork-refuses', /^agent_failed: Cannot ask the agent: \[-32603\] No <secret-hidden>$/],
]
for (const [behaviour, failure] of failures) {
  test(`says why when the agent does "${behaviour}", and the work goes on`, () => withAgent(behaviour, async (
    { agent, host },
  ) => {
    await agent.runTurn(host.turn('one'))
    assert.match(await failureOf(agent.askAside('Why?', nobody)), failure)
    assert.not.match(host.text(), secret)
    assert.equal(await agent.runTurn(host.turn('two')), finished)
  }))
}

test('is content with an agent that keeps the copy', () => withAgent('fork-stays', async ({ agent, host }) => {
  await agent.runTurn(host.turn('one'))
  assert.match((await agent.askAside('Well?', nobody)).text, 'Well?')
}))

test('says why an agent could not be started', () => withAgent('login', async ({ agent }) => {
  assert.match(await failureOf(agent.askAside('Why?', nobody)), /^agent_failed: \[-32000\] Authentication required/)
}))

test('ends with the patience of the one who asked, and with that of the settings', () => {
  const timers = manualTimers()
  return withAgent('fork-silent', async ({ agent, host }) => {
    await agent.runTurn(host.turn('one'))
    const gone = new AbortController()
    const asked = failureOf(agent.askAside('Well?', gone.signal))
    gone.abort(new AppError('bad_request', 'The client is gone'))
    assert.match(await asked, 'bad_request: The client is gone')
    const silent = failureOf(agent.askAside('Well?', nobody))
    let isDone = false
    void silent.then(() => (isDone = true))
    for (let at = 1; !isDone; at++) {
      timers.advanceTo(at * 61_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.match(await silent, /^agent_timeout: Cannot ask the agent: it sent nothing for 60 s$/)
  }, { options: { timers, drainMs: 50 } })
})

test('ends when the agent is closed', () => withAgent('fork-silent', async ({ agent, host }) => {
  await agent.runTurn(host.turn('one'))
  const asked = failureOf(agent.askAside('Well?', nobody))
  await agent.close()
  assert.match(await asked, 'unavailable: The agent was closed')
}, { options: { drainMs: 50 } }))

test.run()
