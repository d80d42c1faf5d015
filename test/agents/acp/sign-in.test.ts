/** The error for a credential that is missing, refused or expired, and the next run with the new credential. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import type { TurnEnd } from '../../../src/conversation/agent/agent.ts'
import { quirksOf } from '../../../src/agents/acp/session/quirks.ts'
import { endOf } from '../../../src/agents/acp/turn/stop-reason.ts'
import { AcpFailure } from '../../../src/agents/acp/session/failure.ts'
import { askToSignIn, readAuthMethods, type SignIn } from '../../../src/agents/acp/session/sign-in.ts'
import { builtInProviders } from '../../../src/settings/providers-table.ts'
import { suite } from '../../support/suite.ts'
import { memoryHost } from './memory-host.ts'
import { withAgent } from './with-agent.ts'

const test = suite('acp sign-in')

const program = fileURLToPath(new URL('../../fixtures/credential-agent.js', import.meta.url))
const finished: TurnEnd = { outcome: 'finished', served: true }
const [claude, codex] = builtInProviders

function codexThatNeeds(place: 'session' | 'prompt') {
  return {
    settings: { acp_server: 'codex', acp_command: [process.execPath, program], acp_args: [place], acp_model: null },
  }
}

const methods = [
  { id: 'api-key', name: 'API key', description: 'A key of your own' },
  { id: 'chat-gpt', name: 'ChatGPT' },
  { id: 'gateway' },
]

for (const place of ['session', 'prompt'] as const) {
  test(
    `says what is missing, in the state too, when the ${place} needs a credential; the next run uses the key that came`,
    () =>
      withAgent('', async ({ agent, host, slots }) => {
        const end = await agent.runTurn(host.turn('show'))
        assert.equal(end, {
          outcome: 'failed',
          served: false,
          code: 'ACPAuthRequired',
          detail: '[-32000] Authentication required. Store a key as the secret OPENAI_API_KEY, or sign in with ' +
            '"codex login" on the server\'s machine',
        })
        assert.equal(host.states['acp_auth_required'], {
          methods, api_key_variable: 'OPENAI_API_KEY', login_command: 'codex login',
        })
        assert.is(host.states['acp_login'], 'no')
        assert.is(slots.running, 0)
        host.environment.set('OPENAI_API_KEY', 'a-key-of-the-user')
        assert.equal(await agent.runTurn(host.turn('show')), finished)
        assert.is(host.states['acp_auth_required'], null)
      }, codexThatNeeds(place)),
  )
}

test(
  'a login that expires in mid-run fails the turn, and the one that is made then is used without a restart of the server',
  () =>
    withAgent('', async ({ agent, host, folder }) => {
      const login = (token: string): void =>
        writeFileSync(join(folder, '.codex/auth.json'), JSON.stringify({ tokens: { refresh_token: token } }))
      mkdirSync(join(folder, '.codex'))
      login('first')
      assert.equal(await agent.runTurn(host.turn('show')), finished)
      login('expired')
      const end = await agent.runTurn(host.turn('show'))
      assert.match(JSON.stringify(end), /ACPAuthRequired.*The login of Codex was used/)
      assert.is(host.states['acp_login'], 'yes')
      login('second')
      assert.equal(await agent.runTurn(host.turn('show')), finished)
      assert.is(host.states['acp_auth_required'], null)
    }, codexThatNeeds('prompt')),
)

test('words of a refused key that end a turn in order are a missing credential too', () => {
  const facts = { hasDenied: false, signs: { systemError: true }, quirks: quirksOf('codex') } as const
  assert.is(
    endOf({ stopReason: 'end_turn' }, {
      ...facts, lastText: 'unexpected status 401 Unauthorized: Invalid API key',
    })?.code,
    'ACPAuthRequired',
  )
  assert.is(endOf({ stopReason: 'end_turn' }, { ...facts, lastText: 'stream error: 500' })?.code, 'ACPPromptError')
})

const advice: readonly (readonly [string, SignIn, RegExp])[] = [
  ['no key', { provider: claude, login: 'no', removed: [] },
    /Store a key as the secret ANTHROPIC_API_KEY, or sign in with "claude auth login"/],
  ['a key that the config directory takes away', { provider: claude, login: 'no', removed: ['ANTHROPIC_API_KEY'] },
    /ANTHROPIC_API_KEY was not passed on because CLAUDE_CONFIG_DIR is set/],
  ['a login before a key', { provider: codex, login: 'yes', removed: ['OPENAI_API_KEY'] },
    /and the key in OPENAI_API_KEY was not: sign in .* again, or sign out/],
  ['a login alone', { provider: codex, login: 'yes', removed: [] }, /no key in OPENAI_API_KEY was needed/],
  ['no provider', { provider: undefined, login: 'no', removed: [] },
    /Store the credential that the agent reads as a secret/],
]
for (const [name, signIn, expected] of advice) {
  test(`advises what helps: ${name}`, () => {
    const failure = askToSignIn(new AcpFailure('ACPAuthRequired', 'No'), signIn, [], memoryHost('/'))
    assert.match(failure.message, expected)
  })
}

test('leaves other failures as they are', () => {
  const failure = new AcpFailure('ACPPromptError', 'No')
  assert.is(askToSignIn(failure, { provider: codex, login: 'no', removed: [] }, [], memoryHost('/')), failure)
})

test('shows of the methods that an agent offers no secret, nothing endless and nothing of another type', () => {
  const host = memoryHost('/')
  const offered = readAuthMethods([
    { id: 'SECRET-VALUE-1', name: 'x'.repeat(5000), description: 7 },
    { name: 'without id' },
    ...Array(100).fill({ id: 'a' }),
  ])
  assert.is(offered.length, 19)
  askToSignIn(new AcpFailure('ACPAuthRequired', 'No'), { provider: undefined, login: 'no', removed: [] }, offered, host)
  const text = JSON.stringify(host.states)
  assert.match(text, '"id":"<secret-hidden>"')
  assert.ok(text.length < 2000)
})

test.run()
