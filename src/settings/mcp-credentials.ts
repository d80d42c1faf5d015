/**
 * Makes the HTTP headers that authenticate this server to an MCP server (contract/settings.md, section 3.1, `auth`).
 *
 * `parts/mcp/oauth/` gets and renews OAuth tokens.
 */
import { memberAt, objectOf, textOf, type Fields } from '../base/fields.ts'

/** Returns the headers for `auth`; undefined for `oauth2` without an access token, and for an unknown strategy. */
export function authHeaders(auth: Fields): Fields | undefined {
  switch (auth['strategy'] ?? 'none') {
    case 'none': return {}
    case 'api_key': return { [textOf(auth['header_name']) ?? 'X-API-Key']: auth['value'] }
    case 'bearer': return { Authorization: `Bearer ${String(auth['value'])}` }
    case 'basic': return { Authorization: `Basic ${base64(`${String(auth['username'])}:${String(auth['password'])}`)}` }
    case 'header': return objectOf(auth['headers'])
    case 'oauth2': {
      const token = textOf(memberAt(auth, 'state', 'tokens', 'access_token'))
      return token === undefined ? undefined : { Authorization: `Bearer ${token}` }
    }
    default: return undefined
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
