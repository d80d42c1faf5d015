/**
 * Converts the MCP servers of the settings to the form of ACP's `session/new` (v1, session setup), and gives the state
 * of each server. Pure.
 *
 * ACP does not report whether an agent has started a server, so the best state is `handed_over`.
 */
import { memberAt, objectOf, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import { authHeaders } from '../../../settings/mcp-credentials.ts'
import { transportOf } from '../../../settings/mcp-servers.ts'
import { cutDetail } from './failure.ts'

export interface McpTransports {
  readonly stdio: boolean
  readonly http: boolean
  readonly sse: boolean
}

/** A server in `agent_state.acp_mcp_servers`. */
export interface McpServerState {
  readonly name: string
  readonly type: 'stdio' | 'http' | 'sse'
  readonly status: 'handed_over' | 'unsupported' | 'disabled' | 'failed' | 'needs_login'
  readonly detail?: string
}

export interface McpPlan {
  readonly servers: readonly object[]
  /** The states of all servers in the settings, in their order. */
  readonly states: readonly McpServerState[]
}

export function planMcpServers(config: Fields, can: McpTransports): McpPlan {
  const servers: object[] = []
  const states = Object.entries(config).map(([name, value]): McpServerState => {
    const server = objectOf(value)
    const type = transportOf(server)
    if (server['enabled'] === false) return { name, type, status: 'disabled' }
    if (!can[type]) return { name, type, status: 'unsupported', detail: `The agent reaches no servers over ${type}` }
    const plan = type === 'stdio' ? stdioServer(name, server) : remoteServer(name, type, server)
    if (plan === undefined && memberAt(server, 'auth', 'strategy') === 'oauth2') {
      return { name, type, status: 'needs_login', detail: 'Nobody is signed in to it' }
    }
    if (plan === undefined) return { name, type, status: 'unsupported', detail: 'No header can carry its credentials' }
    servers.push(plan)
    return { name, type, status: 'handed_over' }
  })
  return { servers, states }
}

/** Reads an update in which Codex reports that an MCP server did not start. Returns undefined for other updates. */
export function failedMcpServer(update: Fields): { readonly name: string; readonly detail: string } | undefined {
  const name = mcpStartup.exec(textOf(update['toolCallId']) ?? '')?.[1]
  if (name === undefined || update['status'] !== 'failed') return undefined
  const texts = objectsOf(update['content']).flatMap((item) => textOf(memberAt(item, 'content', 'text')) ?? [])
  return { name: decoded(name), detail: texts.join(' ') }
}

/** Returns the states after the failure of a server. Ignores a name that is not in the settings. */
export function withFailure(
  states: readonly McpServerState[],
  failure: { readonly name: string; readonly detail: string },
): readonly McpServerState[] {
  return states.map((state) => {
    const isThis = state.name === failure.name || plainName(state.name) === failure.name
    return isThis ? { ...state, status: 'failed', detail: cutDetail(failure.detail) } : state
  })
}

export function mcpState(states: readonly McpServerState[]): JsonObject {
  return { acp_mcp_servers: states.map((state): JsonObject => ({ ...state })) }
}

/** Matches the id of a call in which Codex reports a server's start: `mcp_startup.<name, percent-encoded>.<unique>`. */
const mcpStartup = /^mcp_startup\.(.+)\.[^.]+$/

/** Returns the name in Codex's form: each character becomes `_`, except letters, digits, `_` and `-`. */
function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name // The text is not percent-encoded: it is the name itself.
  }
}

/** Returns ACP's form of a stdio server. ACP defines `type` for the other transports only. */
function stdioServer(name: string, server: Fields): object {
  const args = Array.isArray(server['args']) ? server['args'].filter((arg: unknown) => typeof arg === 'string') : []
  return { name, command: server['command'], args, env: pairs(objectOf(server['env'])) }
}

function remoteServer(name: string, type: 'http' | 'sse', server: Fields): object | undefined {
  const url = textOf(server['url'])
  const credentials = authHeaders(objectOf(server['auth']))
  if (url === undefined || credentials === undefined) return undefined
  return { type, name, url, headers: [...pairs(objectOf(server['headers'])), ...pairs(credentials)] }
}

function pairs(values: Fields): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(values).flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []))
}
