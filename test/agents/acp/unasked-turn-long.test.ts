/** Turns of a real process that runs commands which nobody was asked about. */
import * as assert from 'uvu/assert'
import { objectOf } from '../../../src/base/fields.ts'
import { blankProvider, type Provider } from '../../../src/settings/provider.ts'
import { suite } from '../../support/suite.ts'
import { isAlive, withAgent, type Running } from './with-agent.ts'

const test = suite('acp unasked turn')
const finished = { outcome: 'finished', served: true }

function asking({ host }: Running): void {
  host.confirmation = { kind: 'AlwaysConfirm' }
}

test(
  'is stopped at the first one, nothing of it is left, and the user is told how to allow it',
  () => withAgent('unasked', async (running) => {
    asking(running)
    const { agent, host } = running
    const end = await agent.runTurn(host.turn('touch'))
    assert.is(end.outcome, 'failed')
    assert.is(end.outcome === 'failed' && end.code, 'UnaskedAction')
    assert.match(JSON.stringify(end), /"served":true.*\(execute\), and nobody had allowed it: touch <secret-hidden>\. The turn was stopped.*"acp_unasked_calls\\"/)
    assert.match(host.text(), /TerminalAction.*TerminalObservation/)
    assert.match(host.text(), /pid=\d+/)
    assert.is(isAlive(host.text()), false)
    const last = { tool_call_id: 'touch1', kind: 'execute', title: 'touch <secret-hidden>', verdict: 'unasked' }
    assert.equal(host.states['acp_unasked'], { calls: 1, last })
  }),
)

test('a question that comes right after the stop is cancelled, and begins no turn', () => withAgent(
  'unasked',
  async (running) => {
    asking(running)
    const { agent, host } = running
    let begun = 0
    host.begun = () => void begun++
    const end = await agent.runTurn(host.turn('look late'))
    assert.is(end.outcome === 'failed' && end.code, 'UnaskedAction')
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal(await agent.runTurn(host.turn('nothing')), finished)
    assert.equal([begun, host.questions], [0, []])
  },
))

test('goes on where the conversation allows it, and is marked, also over the end of a program', () => withAgent(
  'unasked',
  async (running) => {
    asking(running)
    const { agent, host, again } = running
    assert.equal(await agent.runTurn(host.turn('touch on')), finished)
    assert.match(host.text(), /went on/)
    assert.is(objectOf(host.states['acp_unasked'])['calls'], 1)
    await agent.close()
    assert.equal(await again().runTurn(host.turn('touch on')), finished)
    assert.is(objectOf(host.states['acp_unasked'])['calls'], 2)
  },
  { settings: { acp_unasked_calls: 'allow' } },
))

test(
  'is what the policy lets it be where that asks for nothing',
  () => withAgent('unasked', async ({ agent, host }) => {
    for (const policy of [
      { kind: 'NeverConfirm' }, { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: false },
    ] as const) {
      host.confirmation = policy
      assert.equal(await agent.runTurn(host.turn('touch on')), finished)
    }
    assert.is(host.states['acp_unasked'], undefined)
  }),
)

test('is marked and goes on for a tool of which nobody can tell', () => withAgent('unasked', async (running) => {
  asking(running)
  assert.equal(await running.agent.runTurn(running.host.turn('call')), finished)
  assert.is(objectOf(objectOf(running.host.states['acp_unasked'])['last'])['verdict'], 'unclear')
}))

test('goes on for what the asking mode is known to run, and is marked; an agent of no table is stopped', async () => {
  const run = async (providers: readonly Provider[]): Promise<unknown> => {
    let end: unknown
    await withAgent('unasked', async (running) => {
      asking(running)
      end = await running.agent.runTurn(running.host.turn('look'))
      assert.match(
        running.host.text(),
        providers.length > 0 ? /without asking, and runs these commands: ls\./ : /without asking\. Any other command/,
      )
      assert.is(objectOf(running.host.states['acp_unasked'])['calls'], 1)
    }, { options: { providers } })
    return end
  }
  const modes = { asking: 'ask', open: 'open', moreOpen: ['open'], unasked: ['ls'] }
  assert.equal(await run([{ ...blankProvider('fake'), command: [], prefix: 'acp-agent', modes }]), finished)
  assert.match(JSON.stringify(await run([])), /UnaskedAction/)
})

test('the first event says what approval rests on', async () => {
  const first = async (
    policy: 'AlwaysConfirm' | 'NeverConfirm', acp_unasked_calls: 'stop' | 'allow',
  ): Promise<string> => {
    let text = ''
    await withAgent('echo', async ({ agent, host }) => {
      host.confirmation = { kind: policy }
      await agent.runTurn(host.turn('go'))
      text = JSON.stringify(host.events[0])
    }, { settings: { acp_unasked_calls } })
    return text
  }
  assert.match(await first('AlwaysConfirm', 'stop'), /SystemPromptEvent.*mode \\"ask\\"; approval rests on that and on the questions that it asks.*stops the turn\. Nothing confines/)
  assert.match(await first('AlwaysConfirm', 'allow'), /is marked in agent_state \(acp_unasked\)\. Nothing confines/)
  assert.match(
    await first('NeverConfirm', 'stop'),
    /asks nobody: the confirmation policy lets it do everything\. Nothing confines/,
  )
})

test.run()
