/**
 * AcpAgent: modes and MCP servers as state, models and modes kept over a new program, lost sessions that get the
 * earlier messages.
 */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { withAgent } from './with-agent.ts'

const test = suite('acp agent: choices')
const finished: TurnEnd = { outcome: 'finished', served: true }
const nobody = new AbortController().signal

async function wordsOf(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'done', (error: unknown) => String(error))
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(() => 'done', (error: unknown) => (error instanceof AppError ? error.code : String(error)))
}

test('switches the mode between turns and keeps it for the next program', () => withAgent('modes', async (
  { agent, host, again },
) => {
  await agent.runTurn(host.turn('one'))
  assert.is(host.states['acp_current_mode_id'], 'open')
  await agent.session.switchMode('ask', nobody)
  assert.is(host.states['acp_current_mode_id'], 'ask')
  await agent.runTurn(host.turn('two'))
  assert.match(JSON.stringify(host.events.at(-1)), 'mode ask')
  await agent.close()
  await again().runTurn(host.turn('three'))
  assert.match(JSON.stringify(host.events.at(-1)), 'mode ask')
}))

test('keeps a mode that is chosen before there is a session', () => withAgent('modes', async ({ agent, host }) => {
  await agent.session.switchMode('ask', nobody)
  await agent.runTurn(host.turn('one'))
  assert.match(host.text(), 'mode ask')
}))

test('refuses a mode that is not offered, and one that is more open than the policy', () => withAgent('modes', async (
  { agent, host },
) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  await agent.runTurn(host.turn('one'))
  assert.is(await codeOf(agent.session.switchMode('nothing', nobody)), 'bad_request')
  assert.is(await codeOf(agent.session.switchMode('open', nobody)), 'invalid_input')
  assert.is(host.states['acp_current_mode_id'], 'ask')
  await agent.session.switchMode('ask', nobody)
}))

test('refuses an open mode of a known provider before there is a session', () => withAgent(
  '',
  async ({ agent, host }) => {
    host.confirmation = { kind: 'AlwaysConfirm' }
    assert.is(await codeOf(agent.session.switchMode('bypassPermissions', nobody)), 'invalid_input')
    assert.is(host.memory.get('session'), undefined)
  },
  { settings: { acp_server: 'claude-code', acp_command: [] } },
))

test('tells a refusal of the agent', () => withAgent('refuses-mode', async ({ agent, host }) => {
  await agent.runTurn(host.turn('one'))
  assert.is(await codeOf(agent.session.switchMode('ask', nobody)), 'bad_request')
}))

test('asks nothing of the agent for what is in use already, and says so when there is nothing to choose', async () => {
  await withAgent('refuses-mode', async ({ agent, host }) => {
    await agent.runTurn(host.turn('one'))
    await agent.session.switchMode('open', nobody)
    await agent.session.switchModel('small', nobody)
    assert.equal(await agent.runTurn(host.turn('two')), finished)
  })
  await withAgent('offers-nothing', async ({ agent, host }) => {
    await agent.runTurn(host.turn('one'))
    assert.match(
      await wordsOf(agent.session.switchMode('ask', nobody)), 'Cannot use the mode "ask": this agent offers none',
    )
    assert.match(await wordsOf(agent.session.switchModel('big', nobody)), 'this agent does not let its model be chosen')
  })
})

test('ends an agent that asks while no prompt runs, where no run can take the question', () => withAgent(
  'asks-between',
  async ({ agent, host, slots }) => {
    host.begun = () => {
      throw new AppError('conflict', 'no')
    }
    await agent.runTurn(host.turn('one'))
    await until(() => slots.running === 0)
    assert.not.ok(host.events.some(({ kind }) => kind === 'ActionEvent'))
  },
))

test('shows what the agent changes by itself', () => withAgent('moves-itself', async ({ agent, host }) => {
  host.answer = () => ({ outcome: 'accepted' })
  await agent.runTurn(host.turn('one'))
  assert.is(host.states['acp_current_mode_id'], 'open')
  assert.is(host.states['acp_current_model_id'], 'huge')
  assert.equal(host.states['acp_available_models'], [{ model_id: 'huge', name: null, description: null }])
}))

test('moves an agent back that opens up against the policy', () => withAgent('moves-itself', async (
  { agent, host },
) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  await agent.runTurn(host.turn('one'))
  // The message that moved it back was sent before the next request.
  await agent.session.switchMode('ask', nobody)
  await agent.runTurn(host.turn('two'))
  assert.not.match(host.text(), 'ACPInitError')
}))

test('says what became of each MCP server', () => withAgent('mcp-fails', async ({ agent, host }) => {
  await agent.runTurn(host.turn('one'))
  assert.equal(host.states['acp_mcp_servers'], [
    { name: 'near', type: 'stdio', status: 'handed_over' },
    { name: 'my server', type: 'stdio', status: 'failed', detail: 'No such program <secret-hidden>' },
    { name: 'far', type: 'sse', status: 'unsupported', detail: 'The agent reaches no servers over sse' },
    { name: 'off', type: 'http', status: 'disabled' },
  ])
  assert.not.ok(host.events.some(({ kind }) => kind === 'ActionEvent'))
}, {
  settings: {
    mcp_config: {
      near: { command: 'x' },
      'my server': { command: 'x' },
      far: { transport: 'sse', url: 'https://example.invalid' },
      off: { url: 'https://example.invalid', enabled: false },
    },
  },
}))

test('tells a session that does not remember what was said, until it has got it', () => withAgent('echo', async (
  { agent, host, again },
) => {
  await agent.runTurn(host.turn('one'))
  assert.not.match(host.text(), 'record of it')
  await agent.close()
  host.past = 'User: one\nAgent: the first answer'
  const next = again()
  assert.equal(await next.runTurn(host.turn('two')), finished)
  assert.match(JSON.stringify(host.events.at(-1)), /> User: one.*> Agent: the first answer.*two/)
  assert.equal(await next.runTurn(host.turn('three')), finished)
  assert.not.match(JSON.stringify(host.events.at(-1)), 'the first answer')
}))

test('tells it again to a session that was opened and then prompted by nobody', () => withAgent(
  'login-variable',
  async ({ agent, host }) => {
    host.past = 'User: what was said'
    assert.match(JSON.stringify(await agent.runTurn(host.turn('go'))), 'ACPAuthRequired')
    assert.is(host.memory.get('session')?.['is_prompted'], false)
    host.environment.set('TOKEN', 'a-token-of-the-user')
    assert.equal(await agent.runTurn(host.turn('go')), finished)
    assert.match(host.text(), '> User: what was said')
    assert.is(host.memory.get('session')?.['is_prompted'], true)
  },
))

test('tells a session that was taken up after a refused login nothing of what it has seen itself', () => withAgent(
  'login-resumed',
  async ({ agent, host }) => {
    assert.match(JSON.stringify(await agent.runTurn(host.turn('go'))), 'ACPAuthRequired')
    host.past = 'Agent: Authentication failed'
    const id = host.memory.get('session')?.['id']
    host.environment.set('TOKEN', 'a-token-of-the-user')
    assert.equal(await agent.runTurn(host.turn('go')), finished)
    assert.is(host.memory.get('session')?.['id'], id)
    assert.match(host.text(), /prompt .*go/)
    assert.not.match(host.text(), '> Agent: Authentication failed')
  },
))

test('does not tell a resumed session what it knows', () => withAgent('resume', async ({ agent, host, again }) => {
  await agent.runTurn(host.turn('one'))
  await agent.close()
  host.past = 'User: one'
  await again().runTurn(host.turn('two'))
  assert.not.match(host.text(), '> User: one')
}))

test(
  'an agent of no table is kept in the mode in which its session began, while the policy asks',
  () => withAgent('options', async ({ agent, host, again }) => {
    await agent.runTurn(host.turn('one'))
    await agent.session.switchMode('free', nobody)
    assert.is(host.states['acp_current_mode_id'], 'free')
    host.confirmation = { kind: 'AlwaysConfirm' }
    agent.policyChanged()
    await agent.runTurn(host.turn('two'))
    for (const mode of ['free', 'autopilot']) {
      assert.is(await codeOf(agent.session.switchMode(mode, nobody)), 'invalid_input', mode)
    }
    await agent.session.switchMode('careful', nobody)
    await agent.close()
    host.memory.delete('session')
    await again({ settings: { acp_session_mode: 'free' } }).runTurn(host.turn('three'))
    assert.is(host.states['acp_current_mode_id'], 'careful')
    assert.match(host.text(), 'was not brought into the mode \\"free\\"')
  }),
)

test('does not run an agent of no table whose session begins in a mode that does not ask by its name', () => withAgent(
  'begins-open',
  async ({ agent, host }) => {
    await agent.runTurn(host.turn('one'))
    host.confirmation = { kind: 'AlwaysConfirm' }
    agent.policyChanged()
    assert.match(JSON.stringify(await agent.runTurn(host.turn('two'))), /ACPInitError.*stays in the mode \\"yolo\\"/)
  },
))

test(
  'chooses modes and models by options of any id, shows the others, and keeps what was chosen',
  () => withAgent('options', async ({ agent, host, again }) => {
    await agent.runTurn(host.turn('one'))
    const shown = (): string => JSON.stringify(host.states['acp_config_options'])
    assert.match(shown(), /"option_id":"effort".*"current_value":"low".*"option_id":"approval"/)
    await agent.session.switchModel('big', nobody)
    await agent.session.switchOption('effort', 'high', nobody)
    assert.match(shown(), /"option_id":"effort".*"current_value":"high"/)
    assert.match(
      await wordsOf(agent.session.switchOption('effort', 'most', nobody)), 'expected one of low, high, refused',
    )
    assert.match(await wordsOf(agent.session.switchOption('tempo', 'fast', nobody)), 'expected one of effort, approval')
    assert.match(await wordsOf(agent.session.switchOption('effort', 'refused', nobody)), 'Not today')
    await agent.close()
    await again().runTurn(host.turn('two'))
    assert.is(host.states['acp_current_model_id'], 'big')
    assert.match(shown(), /"option_id":"effort".*"current_value":"high"/)
  }),
)

test('refuses an option that is more open by its name than the policy', () => withAgent('options', async (
  { agent, host },
) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  await agent.runTurn(host.turn('one'))
  assert.is(await codeOf(agent.session.switchOption('approval', 'auto-approve', nobody)), 'invalid_input')
  host.confirmation = { kind: 'NeverConfirm' }
  assert.is(await codeOf(agent.session.switchOption('approval', 'auto-approve', nobody)), 'done')
}))

test(
  'sets back the options by which an agent stops asking while the policy asks, and lets none be chosen',
  () => withAgent('permissive', async ({ agent, host, again }) => {
    host.confirmation = { kind: 'AlwaysConfirm' }
    assert.is(await codeOf(agent.session.switchOption('allow_all', 'on', nobody)), 'invalid_input')
    await agent.runTurn(host.turn('one'))
    assert.match(host.text(), /allow_all=off.*auto_approve=false/)
    for (const [id, value] of [['allow_all', 'on'], ['auto_approve', 'true']] as const) {
      assert.is(await codeOf(agent.session.switchOption(id, value, nobody)), 'invalid_input', id)
    }
    await agent.runTurn(host.turn('open up'))
    host.confirmation = { kind: 'NeverConfirm' }
    await agent.session.switchOption('allow_all', 'on', nobody)
    await agent.session.switchOption('auto_approve', 'true', nobody)
    await agent.runTurn(host.turn('two'))
    assert.match(JSON.stringify(host.events.at(-1)), /allow_all=on.*auto_approve=true/)
    host.confirmation = { kind: 'AlwaysConfirm' }
    await agent.runTurn(host.turn('three'))
    assert.match(JSON.stringify(host.events.at(-1)), /allow_all=off.*auto_approve=false/)
    await agent.close()
    await again().runTurn(host.turn('four'))
    assert.match(host.text(), 'The option \\"allow_all\\" was not set to \\"on\\"')
    assert.match(JSON.stringify(host.events.at(-1)), /allow_all=off.*auto_approve=false/)
  }),
)

for (const behaviour of ['permissive-stays', 'permissive-silently']) {
  test(
    `does not run an agent whose options keep it from asking: ${behaviour}`,
    () => withAgent(behaviour, async ({ agent, host, slots }) => {
      host.confirmation = { kind: 'AlwaysConfirm' }
      assert.match(
        JSON.stringify(await agent.runTurn(host.turn('go'))),
        /"ACPInitError".*auto_approve.* stays at .*true.*does not ask/,
      )
      assert.is(slots.running, 0)
    }),
  )
}

test(
  'judges an agent by the provider of the settings, whatever name it gives itself, and says so once',
  () => withAgent('echo', async ({ agent, host, again }) => {
    const notes = (): number =>
      host.text().split('The agent calls itself fake 1.2.3. This server knows Claude Code as').length - 1
    await agent.runTurn(host.turn('one'))
    assert.is(notes(), 1)
    await agent.close()
    await again().runTurn(host.turn('two'))
    assert.is(notes(), 1)
    // It offers no mode that the table knows, so nothing of it is trusted to ask.
    host.confirmation = { kind: 'AlwaysConfirm' }
    assert.match(JSON.stringify(await again().runTurn(host.turn('three'))), /stays in the mode \\"ask\\"/)
  }, { settings: { acp_server: 'claude-code' } }),
)

test('a name of a known agent gives an agent of no table no modes of that one', () => withAgent('false-name', async (
  { agent, host },
) => {
  host.confirmation = { kind: 'AlwaysConfirm' }
  await agent.runTurn(host.turn('one'))
  assert.is(await codeOf(agent.session.switchMode('open', nobody)), 'invalid_input')
}))

test.run()
