/** The demonstration agent as the server runs it: the history of a first conversation. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { isEvent } from '../../../src/schema/generated/events.ts'
import { suite } from '../../support/suite.ts'
import type { MemoryHost } from './memory-host.ts'
import { withAgent, type Changes } from './with-agent.ts'

const test = suite('acp agent with the demo agent')
const program = fileURLToPath(new URL('../../../src/parts/demo/main.js', import.meta.url))
const demo: Changes = {
  settings: { acp_command: ['agent-server-demo-agent'], acp_args: [] },
  options: { programs: { 'agent-server-demo-agent': program } },
}

function kinds(host: MemoryHost): string[] {
  return host.events.map((event) => {
    if (event.kind === 'ActionEvent') return event.action?.kind ?? 'none'
    return event.kind === 'ObservationEvent' ? event.observation.kind : event.kind
  })
}

test(
  'shows its script as a plan, an edit, a command and messages',
  () => withAgent('', async ({ agent, host, folder }) => {
    assert.equal(await agent.runTurn(host.turn('hello')), { outcome: 'finished', served: true })
    assert.equal(kinds(host), [
      'SystemPromptEvent',
      'MessageEvent', 'TaskTrackerAction', 'TaskTrackerObservation',
      'MessageEvent', 'TaskTrackerAction', 'TaskTrackerObservation',
      'FileEditorAction', 'FileEditorObservation', 'TaskTrackerAction', 'TaskTrackerObservation',
      'TerminalAction', 'TerminalObservation', 'TaskTrackerAction', 'TaskTrackerObservation',
      'MessageEvent',
    ])
    for (const [index, event] of host.events.entries()) {
      const full: unknown = JSON.parse(
        JSON.stringify({ ...event, id: `e${index}`, timestamp: '2026-11-21T09:30:00.123456Z' }),
      )
      assert.ok(isEvent(full), JSON.stringify(event))
    }
    assert.is(readFileSync(join(folder, 'agent-server-demo.txt'), 'utf8'), 'The demonstration agent was here.\n')
    assert.match(host.text(), /agent-server-demo\.txt.*"exit_code":0/)
    assert.is(host.questions.length, 0)
    assert.is(host.states['acp_agent_name'], 'agent-server-demo-agent')
  }, demo),
)

test(
  'asks before it writes and before it runs something where the policy says so',
  () => withAgent('', async ({ agent, host, folder }) => {
    host.confirmation = { kind: 'AlwaysConfirm' }
    host.answer = ({ title }) =>
      (title.startsWith('Write') ? { outcome: 'denied', reason: 'not this' } : { outcome: 'accepted' })
    assert.equal(await agent.runTurn(host.turn('hello')), { outcome: 'finished', served: true })
    assert.equal(host.questions.map(({ title }) => title), ['Write agent-server-demo.txt', 'ls -la'])
    assert.ok(kinds(host).includes('UserRejectObservation'))
    assert.is(existsSync(join(folder, 'agent-server-demo.txt')), false)
    assert.match(host.text(), /you did not allow it, so I left it/)
  }, demo),
)

test('ends the command of a prompt that is stopped', () => withAgent('', async ({ agent, host }) => {
  const turn = host.turn('run: echo started; sleep 600')
  const ended = agent.runTurn(turn)
  await host.seen(/TerminalAction/)
  turn.stop()
  assert.equal(await ended, { outcome: 'stopped', served: true })
  assert.is(kinds(host).at(-1), 'AgentErrorEvent')
  assert.equal(await agent.runTurn(host.turn('run: true')), { outcome: 'finished', served: true })
}, demo))

test.run()
