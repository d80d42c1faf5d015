/**
 * AcpAgent and its session: starting, resuming, modes, models, environment, closing, with a program over real pipes.
 */
import * as assert from 'uvu/assert'
import { AgentSlots } from '../../../src/agents/acp/session/slots.ts'
import { AppError } from '../../../src/base/errors.ts'
import { sleep } from '../../../src/base/wait.ts'
import { blankProvider } from '../../../src/settings/provider.ts'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { suite } from '../../support/suite.ts'
import { withAgent } from './with-agent.ts'

const test = suite('acp agent: session')
const finished: TurnEnd = { outcome: 'finished', served: true }

test('records a placeholder system prompt once, then what the agent says', () => withAgent('echo', async (
  { agent, host },
) => {
  assert.equal(await agent.runTurn(host.turn('hello')), finished)
  await agent.runTurn(host.turn('again'))
  assert.equal(host.events.map(({ kind }) => kind), ['SystemPromptEvent', 'MessageEvent', 'MessageEvent'])
  assert.match(JSON.stringify(host.events[0]), /"tools":\[\]/)
  assert.match(JSON.stringify(host.events[1]), /hello/)
}))

test('says what is known of the agent and keeps the session id to itself', () => withAgent('echo', async (
  { agent, host },
) => {
  await agent.runTurn(host.turn('hello'))
  assert.equal(host.states, {
    acp_agent_name: 'fake',
    acp_agent_version: '1.2.3',
    acp_current_model_id: 'small',
    acp_available_models: [
      { model_id: 'small', name: 'Small', description: null },
      { model_id: 'big', name: null, description: null },
    ],
    acp_supports_runtime_model_switch: true,
    acp_current_mode_id: 'ask',
    acp_available_modes: [
      { mode_id: 'ask', name: null, description: null },
      { mode_id: 'open', name: null, description: null },
    ],
    acp_config_options: [],
    acp_mcp_servers: [],
    acp_auth_required: null,
  })
  assert.match(String(host.memory.get('session')?.['id']), /^session-\d+$/)
  assert.is(host.memory.get('session')?.['cwd'], host.workingDir)
}))

test('serves several turns with one program and asks it to go on when there is no message', () => withAgent(
  'echo',
  async ({ agent, host, slots }) => {
    await agent.runTurn(host.turn('one'))
    await agent.runTurn(host.turn(''))
    const pids = new Set([...host.text().matchAll(/pid=(\d+)/g)].map(([, pid]) => pid))
    assert.is(pids.size, 1)
    assert.is(slots.running, 1)
    assert.match(host.text(), /Continue with the task/)
  },
))

test('resumes its session after a restart', () => withAgent('resume', async ({ agent, host, again }) => {
  await agent.runTurn(host.turn('one'))
  const { id } = host.memory.get('session') ?? {}
  await agent.close()
  assert.equal(await again().runTurn(host.turn('two')), finished)
  assert.is(host.memory.get('session')?.['id'], id)
  assert.equal(host.events.map(({ kind }) => kind), ['SystemPromptEvent', 'MessageEvent', 'MessageEvent'])
}))

test('takes the end of a call of an earlier life for no call of this one', () => withAgent('late-ends', async (
  { agent, host },
) => {
  host.callIds = ['old']
  assert.equal(await agent.runTurn(host.turn('go')), finished)
  assert.equal(host.events.flatMap((event) => (event.kind === 'ActionEvent' ? [event.tool_call_id] : [])), ['new'])
}))

test('does not take up a session whose agent would run open calls again', () => withAgent(
  'resume',
  async ({ agent, host, again }) => {
    await agent.runTurn(host.turn('one'))
    await agent.close()
    assert.equal(await again().runTurn(host.turn('two')), finished)
    assert.match(host.text(), /does not remember this conversation/)
  },
  { options: { providers: [{ ...blankProvider('openhands'), command: [], prefix: 'acp-agent' }] } },
))

test('loads its session where it cannot be resumed and takes nothing of the replay', () => withAgent('load', async (
  { agent, host, again },
) => {
  await agent.runTurn(host.turn('one'))
  await agent.close()
  assert.equal(await again().runTurn(host.turn('two')), finished)
  assert.not.match(host.text(), /replayed/)
  assert.is(host.events.length, 3)
}))

for (const behaviour of ['load-fails', 'echo']) {
  test(`begins a new session and says so when the agent does "${behaviour}" with the old one`, () => withAgent(
    behaviour,
    async ({ agent, host, again }) => {
      await agent.runTurn(host.turn('one'))
      const { id } = host.memory.get('session') ?? {}
      await agent.close()
      assert.equal(await again().runTurn(host.turn('two')), finished)
      assert.is.not(host.memory.get('session')?.['id'], id)
      assert.match(JSON.stringify(host.events[2]), /"source":"environment".*does not remember this conversation/)
    },
  ))
}

test('serves a turn with another program when the one of the turn before is gone, noticed or not', () => withAgent(
  'resume',
  async ({ agent, host }) => {
    for (const [round, wait] of [0, 0, 5, 20, 50].entries()) {
      assert.equal(await agent.runTurn(host.turn(`round ${round}`)), finished)
      const pid = Number([...host.text().matchAll(/pid=(\d+)/g)].at(-1)?.[1])
      process.kill(pid, 'SIGKILL')
      await sleep(wait)
    }
    assert.equal(host.events.map(({ kind }) => kind), ['SystemPromptEvent', ...Array<string>(5).fill('MessageEvent')])
  },
))

test(
  'fails when the second program dies of the same message',
  () => withAgent('dies-of-the-second', async ({ agent, host }) => {
    assert.equal(await agent.runTurn(host.turn('one')), finished)
    assert.match(
      JSON.stringify(await agent.runTurn(host.turn('deadly'))),
      /"served":false,"code":"ACPPromptError".*exited with code 5/,
    )
    assert.is(host.events.filter(({ source }) => source === 'environment').length, 1)
  }),
)

test('asks for a login instead of losing the session when resuming needs one', () => withAgent('login-resume', async (
  { agent, host, again },
) => {
  await agent.runTurn(host.turn('one'))
  await agent.close()
  assert.match(JSON.stringify(await again().runTurn(host.turn('two'))), /ACPAuthRequired/)
}))

test('does not take up a session of another folder', () => withAgent('resume', async ({ agent, host }) => {
  host.memory.set('session', { id: 'old', cwd: '/elsewhere' })
  await agent.runTurn(host.turn('one'))
  assert.is.not(host.memory.get('session')?.['id'], 'old')
}))

test('gives the agent its secrets and of the server only what is allowed', () => withAgent(
  'environment',
  async ({ agent, host }) => {
    host.environment.set('MY_TOKEN', 'token-of-the-user')
    await agent.runTurn(host.turn('go'))
    assert.match(host.text(), /MY_TOKEN.*token-of-the-user/)
    assert.match(host.text(), /PASSED.*yes/)
    assert.not.match(host.text(), /KEPT_BACK/)
  },
  {
    options: {
      environment: { PATH: process.env['PATH'], PASSED: 'yes', KEPT_BACK: 'no' }, passEnvironment: ['PASSED'],
    },
  },
))

test('uses the open mode when nothing is asked and the asking mode otherwise', () => withAgent('modes', async (
  { agent, host },
) => {
  await agent.runTurn(host.turn('one'))
  assert.match(host.text(), /mode open/)
  host.confirmation = { kind: 'AlwaysConfirm' }
  agent.policyChanged()
  await agent.runTurn(host.turn('two'))
  assert.match(host.text(), /mode ask/)
}))

test('does not run an agent that stays in a mode more open than the policy', () => withAgent('refuses-mode', async (
  { agent, host, slots },
) => {
  await agent.runTurn(host.turn('one'))
  host.confirmation = { kind: 'AlwaysConfirm' }
  agent.policyChanged()
  const end = await agent.runTurn(host.turn('two'))
  assert.match(JSON.stringify(end), /ACPInitError.*stays in the mode \\"open\\"/)
  assert.is(slots.running, 0)
}))

test('drops the notice that an agent makes of a change of mode', () => withAgent('mode-notice', async (
  { agent, host },
) => {
  await agent.runTurn(host.turn('one'))
  assert.not.match(host.text(), /MODE_UPDATE/)
}))

test('uses the model of the settings, tells of one that is refused, and switches', () => withAgent(
  'echo',
  async ({ agent, host, again }) => {
    await agent.runTurn(host.turn('one'))
    assert.match(host.text(), /Cannot use the model \\"bad\\".*No such model.*The agent uses small\./)
    await agent.session.switchModel('big', new AbortController().signal)
    await agent.runTurn(host.turn('two'))
    assert.match(host.text(), /model big/)
    assert.is(host.states['acp_current_model_id'], 'big')
    try {
      await agent.session.switchModel('bad', new AbortController().signal)
      assert.unreachable()
    } catch (error) {
      assert.is(error instanceof AppError && error.code, 'bad_request')
    }
    await agent.close()
    await again().runTurn(host.turn('three'))
    assert.is(host.memory.get('session')?.['model'], 'big')
  },
  { settings: { acp_model: 'bad' } },
))

test('keeps a model that is chosen before there is a session', () => withAgent('echo', async ({ agent, host }) => {
  await agent.session.switchModel('big', new AbortController().signal)
  await agent.runTurn(host.turn('one'))
  assert.match(host.text(), /model big/)
}))

test('logs in with the method that the credentials ask for, where the agent offers it', async () => {
  // A configuration of the operator's own is left alone, so the key is not in it.
  const options = { environment: { PATH: process.env['PATH'], CODEX_CONFIG: '{}' } }
  const changes = { settings: { acp_server: 'codex', acp_model: 'big' }, options }
  const environment = [['OPENAI_API_KEY', 'sk-0123456789']] as const
  await withAgent('echo', async ({ agent, host }) => {
    host.environment = new Map(environment)
    assert.equal(await agent.runTurn(host.turn('go')), finished)
    assert.match(host.text(), /login api-key/)
  }, changes)
  for (const [behaviour, words] of [['bad-login', 'Key refused'], ['silent-login', 'authenticate']] as const) {
    await withAgent(behaviour, async ({ agent, host }) => {
      host.environment = new Map(environment)
      const end = await agent.runTurn(host.turn('go'))
      assert.is(end.outcome === 'failed' && end.code, 'ACPAuthRequired')
      assert.match(JSON.stringify(end), words)
    }, { ...changes, options: { ...options, authenticateTimeoutMs: 200 } })
  }
})

test('ends an idle program and takes its session up again', () => withAgent('resume', async (
  { host, again, slots },
) => {
  const brief = new AgentSlots({ idleMs: 50 })
  const agent = again({ options: { slots: brief } })
  await agent.runTurn(host.turn('one'))
  const { id } = host.memory.get('session') ?? {}
  while (brief.running > 0) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(await agent.runTurn(host.turn('two')), finished)
  assert.is(host.memory.get('session')?.['id'], id)
  assert.is(slots.running, 0)
}))

test('hides the id of its session, whatever the agent says', () => withAgent('echo', async ({ agent, host }) => {
  await agent.runTurn(host.turn('one'))
  assert.match(host.text(), /session <session> login/)
  assert.not.ok(host.text().includes(String(host.memory.get('session')?.['id'])))
}))

test('waits for a slot, says so, and starts when there is one', () => withAgent('echo', async ({ host, again }) => {
  const one = new AgentSlots({ limit: 1 })
  const busy = await one.take('conversation', () => undefined, new AbortController().signal)
  const ended = again({ options: { slots: one } }).runTurn(host.turn('go'))
  while (host.states['acp_waiting_for_slot'] !== true) await new Promise((resolve) => setImmediate(resolve))
  busy.release()
  assert.equal(await ended, finished)
  assert.is(host.states['acp_waiting_for_slot'], false)
}))

test('has nothing to do when the policy changes before there is a program', () => withAgent('echo', async (
  { agent, slots },
) => {
  agent.policyChanged()
  assert.is(slots.running, 0)
}))

test('tells of MCP servers that the agent cannot reach', () => withAgent('echo', async ({ agent, host }) => {
  await agent.runTurn(host.turn('one'))
  assert.match(host.text(), /cannot reach these MCP servers: far\./)
}, { settings: { mcp_config: { near: { command: 'x' }, far: { transport: 'sse', url: 'https://example.invalid' } } } }))

for (const name of ['copilot', 'cline']) {
  test(`says of ${name} that it takes no MCP servers that are programs`, () => withAgent(
    'echo',
    async ({ agent, host }) => {
      await agent.runTurn(host.turn('one'))
      assert.match(host.text(), /cannot reach these MCP servers: near\./)
      assert.match(JSON.stringify(host.states['acp_mcp_servers']), /"near","type":"stdio","status":"unsupported"/)
    },
    {
      settings: { mcp_config: { near: { command: 'x' } } },
      options: { providers: [{ ...blankProvider(name), command: [], prefix: 'acp-agent' }] },
    },
  ))
}

test.run()
