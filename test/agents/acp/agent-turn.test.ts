/**
 * AcpAgent in a turn: stopping, permissions, questions, figures, long outputs, floods, with a program over real pipes.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { deferred } from '../../../src/base/wait.ts'
import type { ConfirmationAnswer, TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { suite } from '../../support/suite.ts'
import { manualTimers } from './manual-timers.ts'
import { isAlive, withAgent } from './with-agent.ts'

const test = suite('acp agent: turn')
const finished: TurnEnd = { outcome: 'finished', served: true }
const stopped: TurnEnd = { outcome: 'stopped', served: true }

test('stops: cancels the prompt and keeps the program', () => withAgent('never', async ({ agent, host, slots }) => {
  const turn = host.turn('go')
  const ended = agent.runTurn(turn)
  await host.seen(/working/)
  turn.stop()
  assert.equal(await ended, stopped)
  assert.is(slots.running, 1)
}))

test('keeps a program that answers a cancel with an error', () => withAgent('error-on-cancel', async (
  { agent, host, slots },
) => {
  const turn = host.turn('go')
  const ended = agent.runTurn(turn)
  await host.seen(/working/)
  turn.stop()
  assert.equal(await ended, stopped)
  assert.is(slots.running, 1)
}))

test('ends a program that ignores a cancel before the turn is stopped', () => withAgent(
  'ignores-cancel',
  async ({ agent, host, slots }) => {
    const turn = host.turn('go')
    const ended = agent.runTurn(turn)
    await host.seen(/pid=\d+/)
    turn.stop()
    assert.equal(await ended, stopped)
    assert.is(isAlive(host.text()), false)
    assert.is(slots.running, 0)
  },
  { options: { drainMs: 200 } },
))

test(
  'ends what an open tool call has started before the turn is stopped',
  () => withAgent('leaves-command', async ({ agent, host }) => {
    const turn = host.turn('go')
    const ended = agent.runTurn(turn)
    await host.seen(/TerminalAction/)
    assert.is(isAlive(host.text()), true)
    turn.stop()
    assert.equal(await ended, stopped)
    assert.is(isAlive(host.text()), false)
    assert.equal(host.events.map(({ kind }) => kind), [
      'SystemPromptEvent', 'MessageEvent', 'ActionEvent', 'AgentErrorEvent',
    ])
    assert.equal(await agent.runTurn(host.turn('next')), finished)
  }),
)

test('stops while the program starts', () => withAgent('silent', async ({ agent, host, slots }) => {
  const turn = host.turn('go')
  const ended = agent.runTurn(turn)
  turn.stop()
  assert.equal(await ended, { outcome: 'stopped', served: false })
  assert.is(slots.running, 0)
}))

test(
  'answers a tool call that the agent left open when it died, and starts again',
  () => withAgent('exit-in-tool', async ({ agent, host }) => {
    const end = await agent.runTurn(host.turn('go'))
    assert.match(JSON.stringify(end), /"served":true,"code":"ACPPromptError","detail":"The agent exited with code 0"/)
    assert.equal(host.events.map(({ kind }) => kind), [
      'SystemPromptEvent', 'ActionEvent', 'MessageEvent', 'AgentErrorEvent',
    ])
    const again = await agent.runTurn(host.turn('go'))
    assert.is(again.outcome, 'failed')
  }),
)

test('allows once, whatever is offered first, when the policy never asks', () => withAgent('ask', async (
  { agent, host },
) => {
  assert.equal(await agent.runTurn(host.turn('go')), finished)
  assert.match(host.text(), /proceed_once/)
  assert.is(host.questions.length, 0)
}))

test('stores an action before it allows it', () => withAgent('ask', async ({ agent, host }) => {
  const stored = deferred<void>()
  const ended = agent.runTurn(host.turn('go', { durable: () => stored.promise }))
  await host.seen(/TerminalAction/)
  assert.not.match(host.text(), /proceed_once/)
  stored.resolve()
  assert.equal(await ended, finished)
  assert.match(host.text(), /proceed_once/)
}))

test('allows nothing when the action cannot be stored', () => withAgent('ask', async ({ agent, host }) => {
  await agent.runTurn(host.turn('go', { durable: () => Promise.reject(new AppError('storage_failed', 'no')) }))
  assert.match(host.text(), /cancelled/)
  assert.not.match(host.text(), /proceed_once/)
}))

test('allows nothing more once it stops, though the action is stored only then', () => withAgent('ask', async (
  { agent, host },
) => {
  const stored = deferred<void>()
  const turn = host.turn('go', { durable: () => stored.promise })
  const ended = agent.runTurn(turn)
  await host.seen(/TerminalAction/)
  turn.stop()
  stored.resolve()
  assert.equal(await ended, stopped)
  assert.not.match(host.text(), /proceed_once/)
}))

test('denies with the reason what can only be allowed for ever', () => withAgent('ask-always', async (
  { agent, host },
) => {
  assert.equal(await agent.runTurn(host.turn('go')), finished)
  assert.match(host.text(), /UserRejectObservation.*no way to allow this once","rejection_source":"hook"/)
  assert.match(host.text(), /selected.*optionId.*cancel/)
}))

test('asks the user where the policy says so and passes the answer on', () => withAgent('ask', async (
  { agent, host },
) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  host.answer = () => ({ outcome: 'accepted' })
  assert.equal(await agent.runTurn(host.turn('go')), finished)
  assert.equal(host.questions.map(({ toolCallId, title }) => [toolCallId, title]), [['call', 'touch <secret-hidden>']])
  assert.match(host.text(), /proceed_once/)
}))

test(
  'asks one after the other about calls that the agent asks about together, and allows when all are',
  () => withAgent('ask-together', async ({ agent, host }) => {
    host.confirmation = { kind: 'AlwaysConfirm' }
    host.answer = () => ({ outcome: 'accepted' })
    assert.equal(await agent.runTurn(host.turn('go')), finished)
    assert.equal(host.questions.map(({ toolCallId, command }) => [toolCallId, command]), [
      ['one', 'touch one'], ['two', 'touch two'],
    ])
    assert.match(host.text(), /proceed_once/)
  }),
)

test(
  'refuses all calls that the agent asks about together when one of them is',
  () => withAgent('ask-together', async ({ agent, host }) => {
    host.confirmation = { kind: 'AlwaysConfirm' }
    host.answer = ({ toolCallId }) =>
      (toolCallId === 'two' ? { outcome: 'denied', reason: 'not this' } : { outcome: 'accepted' })
    assert.equal(await agent.runTurn(host.turn('go')), finished)
    assert.match(
      host.text(),
      /"tool_call_id":"one","rejection_reason":"The agent asked about this together[^"]*","rejection_source":"hook"/,
    )
    assert.match(host.text(), /"tool_call_id":"two","rejection_reason":"not this","rejection_source":"user"/)
    assert.match(host.text(), /selected[^}]*cancel/)
    assert.not.match(host.text(), /selected[^}]*proceed_once/)
  }),
)

test('gives up a question that its agent withdraws, which allows nothing, and goes on with the others', () => withAgent(
  'withdraws',
  async ({ agent, host }) => {
    host.confirmation = { kind: 'AlwaysConfirm' }
    const turn = host.turn('go')
    const ended = agent.runTurn(turn)
    await Promise.all([host.seen(/"toolCallId":"two"/), host.seen(/one cancelled/)])
    assert.equal(host.outcomes, ['one cancelled'])
    turn.stop()
    assert.equal(await ended, stopped)
    assert.equal(host.outcomes, ['one cancelled', 'two cancelled'])
    assert.not.match(host.text(), /selected/)
  },
))

test('records a refusal of the user', () => withAgent('ask', async ({ agent, host }) => {
  host.confirmation = { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true }
  host.answer = () => ({ outcome: 'denied', reason: 'not today' })
  assert.equal(await agent.runTurn(host.turn('go')), finished)
  assert.match(host.text(), /UserRejectObservation.*"rejection_reason":"not today","rejection_source":"user"/)
}))

test('does not say that the user has refused what nobody answered', () => withAgent('ask', async ({ agent, host }) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  host.answer = () => ({ outcome: 'denied', reason: 'Nobody answered in time', by: 'deadline' })
  assert.equal(await agent.runTurn(host.turn('go')), finished)
  assert.match(host.text(), /"rejection_reason":"Nobody answered in time","rejection_source":"hook"/)
}))

test('finishes when the agent cancels the turn after a refusal', () => withAgent('ask-and-cancel', async (
  { agent, host },
) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  host.answer = () => ({ outcome: 'denied', reason: 'no' })
  assert.equal(await agent.runTurn(host.turn('go')), finished)
}))

test('answers an open question with cancelled when it stops', () => withAgent('ask', async ({ agent, host }) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  const turn = host.turn('go')
  const ended = agent.runTurn(turn)
  await host.seen(/"title":"touch/)
  turn.stop()
  assert.equal(await ended, stopped)
  assert.match(host.text(), /AgentErrorEvent/)
}))

test('lets the idle clock rest while a question is open', async () => {
  const timers = manualTimers()
  await withAgent('ask', async ({ agent, host }) => {
    host.confirmation = { kind: 'AlwaysConfirm' }
    const answer = deferred<ConfirmationAnswer>()
    const asked = deferred<void>()
    const turn = { ...host.turn('go'), ask: () => (asked.resolve(), answer.promise) }
    const ended = agent.runTurn(turn)
    await asked.promise
    timers.advanceTo(3_600_000)
    answer.resolve({ outcome: 'accepted' })
    assert.equal(await ended, finished)
  }, { options: { timers } })
})

test('counts only the difference of a cumulative cost', () => withAgent('usage', async ({ agent, host }) => {
  await agent.runTurn(host.turn('one'))
  await agent.runTurn(host.turn('two'))
  const usage = {
    usageId: 'acp-managed', model: 'small', promptTokens: 7, completionTokens: 3, perTurnTokens: 10,
    contextWindow: 1000, cost: 0.5, costSource: 'derived',
  }
  assert.equal(host.usages, [usage, usage])
  assert.is(host.memory.get('usage')?.['cost'], 1)
}))

test('cuts a long output and keeps all of it, masked, in a file', () => withAgent('big-output', async (
  { agent, host },
) => {
  await agent.runTurn(host.turn('go'))
  const [file = ''] = readdirSync(host.observationsDir)
  const full = readFileSync(join(host.observationsDir, file), 'utf8')
  assert.match(full, /^begin y{50000} <secret-hidden> end$/)
  const observation = JSON.stringify(host.events.at(-1))
  assert.ok(observation.length < 31_000)
  assert.match(observation, new RegExp(`observations/${file}`))
}))

test('reads no faster than the history takes it in', () => withAgent('flood', async ({ agent, host }) => {
  let open = 0
  let most = 0
  const ready = async (): Promise<void> => {
    most = Math.max(most, ++open)
    await new Promise((resolve) => setImmediate(resolve))
    open--
  }
  assert.equal(await agent.runTurn(host.turn('go', { ready })), finished)
  assert.is(most, 1)
  assert.is(host.deltas.length, 3000)
  assert.match(host.text(), /2998 2999/)
}))

test(
  'refuses requests that this client offers no answer to',
  () => withAgent('other-requests', async ({ agent, host }) => {
    assert.equal(await agent.runTurn(host.turn('go')), finished)
    assert.match(
      host.text(), 'fs/read_text_file -32601 terminal/create -32601 elicitation/create -32601 _vendor/thing -32601',
    )
  }),
)

test('is closed for good, twice without harm, and ends a turn that runs', () => withAgent(
  'ignores-cancel',
  async ({ agent, host }) => {
    const ended = agent.runTurn(host.turn('go'))
    await host.seen(/pid=\d+/)
    await Promise.all([agent.close(), agent.close()])
    assert.is((await ended).outcome, 'stopped')
    assert.is(isAlive(host.text()), false)
    assert.equal(await agent.runTurn(host.turn('go')), { outcome: 'stopped', served: false })
  },
  { options: { drainMs: 200 } },
))

test.run()
