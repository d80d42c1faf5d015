/**
 * AcpAgent with programs that fail: each way has its code and its words, no secret is told, and nothing is left alive.
 */
import * as assert from 'uvu/assert'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { suite } from '../../support/suite.ts'
import { blankProvider } from '../../../src/settings/provider.ts'
import { secret } from './memory-host.ts'
import { withAgent, type Changes } from './with-agent.ts'

const test = suite('acp agent: failures')
const finished: TurnEnd = { outcome: 'finished', served: true }

const impatient: Changes = { settings: { acp_startup_timeout: 1 } }

/** The fake agent as a provider of the table. */
function knownAs(name: string): Changes {
  return { options: { providers: [{ ...blankProvider(name), command: [], prefix: 'acp-agent' }] } }
}

/** The error that each misbehaviour ends with. */

const failures: readonly (readonly [behaviour: string, code: string, detail: RegExp, changes?: Changes])[] = [
  ['silent', 'ACPStartupTimeout', /not ready within 1 s/, impatient],
  ['exit-start', 'ACPInitError', /exited with code 7; it wrote: cannot find my configuration <secret-hidden>/],
  ['wrong-version', 'ACPInitError', /version 2 of ACP, expected 1/],
  ['refuses-initialize', 'ACPInitError', /^\[-32600\] No$/],
  ['no-session-id', 'ACPInitError', /without an id/],
  ['login', 'ACPAuthRequired',
    /^\[-32000\] Authentication required\. Store the credential that the agent reads as a secret/],
  ['login-prompt', 'ACPAuthRequired', /^\[-32000\] Authentication required\. Store/],
  ['login-text', 'ACPAuthRequired', /^\[-32603\] Internal error: Invalid API key <secret-hidden>\. Store/],
  ['api-error', 'ACPPromptError', /^\[-32603\] Internal error: <secret-hidden>: server_error$/],
  ['exit-mid-line', 'ACPPromptError', /exited with code 3; it wrote: panic: <secret-hidden>/],
  ['holds-output', 'ACPPromptError', /exited with code 4/],
  ['closes-output', 'ACPPromptError', /closed its output/],
  ['huge-line', 'ACPPromptError', /line of more than 100000 bytes/, { options: { lineLimitBytes: 100_000 } }],
  ['refusal', 'UsagePolicyRefusal', /refused/],
  ['max_turn_requests', 'MaxIterationsReached', /maximum iterations limit/],
  ['cancelled', 'ACPPromptError', /cancelled the turn by itself/],
  ['codex', 'ACPPromptError', /stream error: 500/, { settings: { acp_server: 'codex' } }],
  ['codex-status', 'ACPPromptError', /could not reach its model/, { settings: { acp_server: 'codex' } }],
  ['copilot', 'ACPAuthRequired', /^Error: Authentication failed with provider/, knownAs('copilot')],
  ['traceback', 'ACPAuthRequired', /litellm\.BadRequestError: no/, knownAs('openhands')],
  ['traceback', 'ACPPromptError', /litellm\.BadRequestError: no/, knownAs('another')],
  ['traceback-only', 'ACPAuthRequired', /sent nothing for 0.3 s/,
    { ...knownAs('openhands'), settings: { acp_prompt_timeout: 0.3 } }],
  ['never-a-word', 'ACPPromptError', /sent nothing for 0.3 s/, { settings: { acp_prompt_timeout: 0.3 } }],
]

for (const [behaviour, code, detail, changes] of failures) {
  test(`fails with ${code} when the agent does "${behaviour}"`, () => withAgent(behaviour, async ({ agent, host }) => {
    const end = await agent.runTurn(host.turn('go'))
    if (end.outcome !== 'failed') throw new Error(`expected a failure, got ${JSON.stringify(end)}`)
    assert.is(end.code, code)
    assert.match(end.detail, detail)
    assert.not.match(JSON.stringify([end, host.events, host.states]), new RegExp(secret))
  }, changes))
}

test('counts the tokens that a silent agent reports when it is cancelled', () => withAgent(
  'never-but-usage',
  async ({ agent, host }) => {
    const end = await agent.runTurn(host.turn('go'))
    assert.match(JSON.stringify(end), /"failed","served":true,"code":"ACPPromptError"/)
    assert.equal(host.usages, [{ usageId: 'acp-managed', model: 'small', promptTokens: 7, completionTokens: 3 }])
  },
  { settings: { acp_prompt_timeout: 0.3 } },
))

test('shows what a silent agent complains of on stderr, masked, until its turn is over', () => withAgent(
  'complains',
  async ({ agent, host }) => {
    const turn = host.turn('go')
    const told: unknown[] = []
    const { state } = host
    host.state = (changes) => {
      state(changes)
      if (!('acp_trouble' in changes)) return
      told.push(changes['acp_trouble'])
      if (changes['acp_trouble'] !== null) turn.stop()
    }
    assert.is((await agent.runTurn(turn)).outcome, 'stopped')
    assert.equal(told, ['ERROR 500 <secret-hidden>, trying again', null])
  },
  { options: { ...knownAs('qwen-code').options, silenceMs: 20 } },
))

test('fails with ACPSpawnError when there is no such program', () => withAgent('', async ({ agent, host }) => {
  const end = await agent.runTurn(host.turn('go'))
  assert.match(JSON.stringify(end), /"failed","served":false,"code":"ACPSpawnError"/)
}, { settings: { acp_command: ['/nowhere/agent'] } }))

test('fails with ACPInitError when a custom server has no command', () => withAgent('', async ({ agent, host }) => {
  assert.match(JSON.stringify(await agent.runTurn(host.turn('go'))), /acp_command.*empty/)
}, { settings: { acp_command: [] } }))

for (const behaviour of ['banner', 'half-json', 'broken-messages', 'answers-twice', 'max_tokens', 'late']) {
  test(`finishes in spite of "${behaviour}"`, () => withAgent(behaviour, async ({ agent, host }) => {
    assert.equal(await agent.runTurn(host.turn('go')), finished)
    assert.equal(await agent.runTurn(host.turn('again')), finished)
  }))
}

test('offers the messages again after a failure that needs a login, not after another', async () => {
  for (const [behaviour, served] of [['login-prompt', false], ['api-error', true], ['login', false]] as const) {
    await withAgent(behaviour, async ({ agent, host }) => {
      const end = await agent.runTurn(host.turn('go'))
      assert.is(end.served, served, behaviour)
    })
  }
})

test('starts another program, with the credentials of that moment, after a login was missing', () => withAgent(
  'login-variable',
  async ({ agent, host }) => {
    assert.match(JSON.stringify(await agent.runTurn(host.turn('go'))), /ACPAuthRequired/)
    host.environment.set('TOKEN', 'a-token-of-the-user')
    assert.equal(await agent.runTurn(host.turn('go')), finished)
  },
))

test('ends a program that was silent because its login was refused, though it answers the cancel', () => withAgent(
  'traceback-only',
  async ({ agent, host, slots }) => {
    assert.match(JSON.stringify(await agent.runTurn(host.turn('go'))), /ACPAuthRequired/)
    assert.is(slots.running, 0)
  },
  { ...knownAs('openhands'), settings: { acp_prompt_timeout: 0.3 } },
))

test('tells no part of a secret, and no session id, where the words of a program are cut', async () => {
  for (const behaviour of ['exit-talking', 'long-error']) {
    await withAgent(behaviour, async ({ agent, host }) => {
      const end = JSON.stringify(await agent.runTurn(host.turn('go')))
      assert.match(end, /ACPPromptError/)
      assert.not.match(end, /VALUE-1|SECRET|session-\d/)
      assert.not.match(host.text(), /VALUE-1|SECRET|session-\d/)
    })
  }
})

test.run()
