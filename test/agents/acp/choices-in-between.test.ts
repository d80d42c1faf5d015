/** AcpAgent: models, modes and policies that change while the agent starts or has not answered yet. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { withAgent, type Running } from './with-agent.ts'

const test = suite('acp agent: choices in between')
const finished: TurnEnd = { outcome: 'finished', served: true }
const nobody = new AbortController().signal
const policyAsks = { kind: 'AlwaysConfirm' } as const
const policyIsOpen = { kind: 'NeverConfirm' } as const

/** Runs a test with an agent whose answers can be held. */
function withHeldAgent(body: (running: Running, hold: Hold) => Promise<void>): Promise<void> {
  return withAgent('held', (running) => body(running, holdIn(running.folder)))
}

interface Hold {
  /** Resolves when the agent has got a request with these words. */
  asked(words: string): Promise<void>
  /** From now on, the agent does not answer requests with these words. */
  begin(words: string): void
  end(): void
}

function holdIn(folder: string): Hold {
  const [hold, asked] = [join(folder, 'hold'), join(folder, 'asked')]
  return {
    asked: (words) => until(() => existsSync(asked) && readFileSync(asked, 'utf8').includes(words)),
    begin: (words) => writeFileSync(hold, words),
    end: () => rmSync(hold),
  }
}

test('a model that is chosen while the agent starts is the model of the first turn', () => withHeldAgent(
  async ({ agent, host }, hold) => {
    hold.begin('session/new')
    const turn = agent.runTurn(host.turn('one'))
    await hold.asked('session/new')
    await agent.session.switchModel('big', nobody)
    hold.end()
    assert.equal(await turn, finished)
    assert.match(host.text(), 'model big')
    assert.is(host.states['acp_current_model_id'], 'big')
  },
))

test('a mode that is chosen while the agent sets the mode of its start is the mode of the first turn', () =>
  withHeldAgent(async ({ agent, host }, hold) => {
    hold.begin('"modeId":"open"')
    const turn = agent.runTurn(host.turn('one'))
    await hold.asked('"modeId":"open"')
    await agent.session.switchMode('ask', nobody)
    hold.end()
    assert.equal(await turn, finished)
    assert.match(host.text(), 'mode ask')
  }))

test('a policy that begins to ask while the agent starts holds for the first turn', () => withHeldAgent(
  async ({ agent, host }, hold) => {
    hold.begin('"modeId":"open"')
    const turn = agent.runTurn(host.turn('one'))
    await hold.asked('"modeId":"open"')
    host.confirmation = policyAsks
    agent.policyChanged()
    hold.end()
    assert.equal(await turn, finished)
    assert.match(host.text(), 'mode ask')
  },
))

test('a policy that opens and asks again before the agent has answered leaves it in the mode that asks', () =>
  withHeldAgent(async ({ agent, host }, hold) => {
    host.confirmation = policyAsks
    await agent.runTurn(host.turn('one'))
    hold.begin('"modeId":"open"')
    host.confirmation = policyIsOpen
    agent.policyChanged()
    await hold.asked('"modeId":"open"')
    host.confirmation = policyAsks
    agent.policyChanged()
    hold.end()
    await hold.asked('"modeId":"ask"')
    await until(() => host.states['acp_current_mode_id'] === 'ask')
  }))

test('a mode that the policy forbids by the time of the answer is left again', () => withHeldAgent(
  async ({ agent, host }, hold) => {
    await agent.runTurn(host.turn('one'))
    await agent.session.switchMode('ask', nobody)
    hold.begin('"modeId":"open"')
    const before = host.states['acp_current_mode_id']
    const opening = agent.session.switchMode('open', nobody)
    await hold.asked('"modeId":"open"')
    host.confirmation = policyAsks
    agent.policyChanged()
    hold.end()
    await opening
    await until(() => host.states['acp_current_mode_id'] === 'ask')
    assert.is(before, 'ask')
  },
))

test.run()
