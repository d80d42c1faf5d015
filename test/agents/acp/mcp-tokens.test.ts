/** MCP servers for agents that reach them themselves: with the token of the moment, and no way to renew it. */
import * as assert from 'uvu/assert'
import { withTokens } from '../../../src/agents/acp/session/mcp-tokens.ts'
import type { McpTokens } from '../../../src/offers.ts'
import { failure } from '../../support/rpc.ts'
import { suite } from '../../support/suite.ts'
import { never, withWorld } from '../../parts/mcp/oauth/world.ts'

const test = suite('agents/acp/session/mcp-tokens')

test('a server with OAuth is handed over with its newest token alone, or with none', () => withWorld(async (world) => {
  await world.signIn()
  const tokens: McpTokens = { tokenFor: (server, state, signal) => world.logins.bearer(server, state).token(signal) }
  const { url } = world.mcp
  const state = { tokens: { access_token: 'an-old-one', refresh_token: 'r', obtained_at: 1 } }
  const auth = { strategy: 'oauth2', authentication: { type: 'oauth', client_secret: 's' }, state }
  const plain = { url, headers: { A: 'b' } }
  const config = {
    far: { url, auth }, near: { url, auth: { strategy: 'oauth2' } }, off: { url, auth, enabled: false }, plain,
    program: { command: 'x' },
  }
  const token = await world.bearer().token(never())
  assert.equal(await withTokens(config, tokens, never()), {
    far: { url, auth: { strategy: 'oauth2', state: { tokens: { access_token: token } } } },
    near: { url, auth: { strategy: 'oauth2' } },
    off: config.off,
    plain,
    program: { command: 'x' },
  })
  world.now += 3_600_000
  world.behaviour.answers = { '/as/token': { status: 500 } }
  assert.equal(
    await withTokens({ far: config.far }, tokens, never()), { far: config.near }, 'a login that cannot be renewed now',
  )
  assert.is(await failure(withTokens(config, tokens, AbortSignal.abort('gone'))), 'gone')
}))

test.run()
