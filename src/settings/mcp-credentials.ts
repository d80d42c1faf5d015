/**
 * The headers by which an MCP server is told who asks (contract: settings.md 3.1, `auth`). Pure.
 *
 * Of OAuth only the token that is in the settings: how it is got and renewed is the business of `oauth/`.
 */
import { memberAt, objectOf, textOf, type Fields } from '../base/fields.ts'

/** Undefined where the credentials are not there or of a sort that no header carries. */
export function authHeaders(auth: Fields): Fields | undefined {
  switch (auth.strategy ?? 'none') {
    case 'none': return {}
    case 'api_key': return { [textOf(auth.header_name) ?? 'X-API-Key']: auth.value }
    case 'bearer': return { Authorization: `Bearer ${String(auth.value)}` }
    case 'basic': return { Authorization: `Basic ${base64(`${String(auth.username)}:${String(auth.password)}`)}` }
    case 'header': return objectOf(auth.headers)
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
