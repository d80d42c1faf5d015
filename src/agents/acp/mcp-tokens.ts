/**
 * The MCP servers of settings for an agent that reaches them itself: with the token of this moment in the place of whatever
 * login they hold, and none where nobody is signed in.
 *
 * Such an agent is given no refresh token, since a second one who renews would end the login for all. Its token is good as
 * long as it is good: a session that lasts longer than that loses the server.
 */
import { untilAborted, within } from '../../base/wait.ts'
import { memberAt, objectOf, textOf, type Fields } from '../../base/fields.ts'
import type { McpTokens } from '../../offers.ts'

/** For all of them together: an agent starts without a login that takes longer. */
const patienceMs = 5000

/** @throws the signal's reason */
export async function withTokens(config: Fields, tokens: McpTokens, signal: AbortSignal): Promise<Fields> {
  const servers = Object.entries(config).map(async ([name, server]) => [name, await withToken(name, objectOf(server), tokens, signal)] as const)
  const entries = await untilAborted(Promise.all(servers), signal)
  return Object.fromEntries(entries)
}

async function withToken(name: string, server: Fields, tokens: McpTokens, signal: AbortSignal): Promise<Fields> {
  const url = textOf(server.url)
  if (url === undefined || server.enabled === false || memberAt(server, 'auth', 'strategy') !== 'oauth2') return server
  const state = memberAt(server, 'auth', 'state')
  const token = tokens.tokenFor({ name, url }, state, signal).catch(() => undefined)
  const given = await within(token, patienceMs)
  const held = given === undefined || given === 'late' ? {} : { state: { tokens: { access_token: given } } }
  return { ...server, auth: { strategy: 'oauth2', ...held } }
}
