/**
 * Replaces the OAuth login of each enabled remote MCP server by its current access token, for an external agent that
 * connects to the server. Without a token the login is removed.
 *
 * The agent gets no refresh token, because a renewal by a second client can end the login for all clients.
 */
import { memberAt, objectOf, textOf, type Fields } from '../../../base/fields.ts'
import { untilAborted, within } from '../../../base/wait.ts'
import type { McpTokens } from '../../../offers.ts'

/** The time limit for getting each access token. After this time the agent starts without the token. */
const patienceMs = 5000

/** Returns the servers with access tokens in place of OAuth logins. @throws the signal's reason */
export async function withTokens(config: Fields, tokens: McpTokens, signal: AbortSignal): Promise<Fields> {
  const servers = Object.entries(config).map(async ([name, server]) => {
    return [name, await withToken(name, objectOf(server), tokens, signal)] as const
  })
  const entries = await untilAborted(Promise.all(servers), signal)
  return Object.fromEntries(entries)
}

async function withToken(name: string, server: Fields, tokens: McpTokens, signal: AbortSignal): Promise<Fields> {
  const url = textOf(server['url'])
  const isOAuth = memberAt(server, 'auth', 'strategy') === 'oauth2'
  if (url === undefined || server['enabled'] === false || !isOAuth) return server
  const state = memberAt(server, 'auth', 'state')
  const token = tokens.tokenFor({ name, url }, state, signal).catch(() => undefined) // An error counts as no token.
  const given = await within(token, patienceMs)
  const held = given === undefined || given === 'late' ? {} : { state: { tokens: { access_token: given } } }
  return { ...server, auth: { strategy: 'oauth2', ...held } }
}
