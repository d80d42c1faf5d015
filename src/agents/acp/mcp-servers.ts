/**
 * The MCP servers of the settings in the form of ACP's `session/new` (v1, session setup). Pure.
 *
 * Servers on standard input and output always go out, those behind an address only where the agent says that it can reach
 * such servers; a disabled one never does. Credentials become headers. What cannot be passed on is named, not dropped
 * silently.
 */
import { memberAt, objectOf, textOf, type Fields } from './fields.ts'

export interface McpTransports {
  readonly http: boolean
  readonly sse: boolean
}

export interface McpPlan {
  readonly servers: readonly object[]
  /** The names of enabled servers that this agent cannot be given. */
  readonly left: readonly string[]
}

export function planMcpServers(config: Fields, can: McpTransports): McpPlan {
  const servers: object[] = []
  const left: string[] = []
  for (const [name, value] of Object.entries(config)) {
    const server = objectOf(value)
    if (server.enabled === false) continue
    const plan = textOf(server.command) === undefined ? remoteServer(name, server, can) : stdioServer(name, server)
    if (plan === undefined) left.push(name)
    else servers.push(plan)
  }
  return { servers, left }
}

/** Without a `type`, which ACP gives to the other two only. */
function stdioServer(name: string, server: Fields): object {
  const args = Array.isArray(server.args) ? server.args.filter((arg: unknown) => typeof arg === 'string') : []
  return { name, command: server.command, args, env: pairs(objectOf(server.env)) }
}

function remoteServer(name: string, server: Fields, can: McpTransports): object | undefined {
  const type = server.transport === 'sse' ? 'sse' : 'http'
  const url = textOf(server.url)
  const credentials = authHeaders(objectOf(server.auth))
  if (url === undefined || !can[type] || credentials === undefined) return undefined
  return { type, name, url, headers: [...pairs(objectOf(server.headers)), ...pairs(credentials)] }
}

/** Undefined where the credentials are not there or of a sort that no header carries. */
function authHeaders(auth: Fields): Fields | undefined {
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

function pairs(values: Fields): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(values).flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []))
}
