/**
 * Checks the members of an MCP server against each other (contract/settings.md, section 3.1), and migrates the MCP
 * servers of old settings.
 */
import { isObject } from '../base/json.ts'
import type { McpServer } from '../schema/generated/settings.ts'

export type McpTransport = 'stdio' | 'http' | 'sse'

/** Returns the named transport; http for an unknown name. Without a name, returns stdio for a command, else http. */
export function transportOf(server: { readonly transport?: unknown; readonly command?: unknown }): McpTransport {
  const { transport, command } = server
  if (transport === 'stdio' || transport === 'sse') return transport
  return (transport ?? undefined) === undefined && typeof command === 'string' ? 'stdio' : 'http'
}

/**
 * True when a server has the command or the address that its transport needs, and does not have both a header
 * Authorization and an `auth` other than `none`.
 */
export function isSoundServer(server: McpServer): boolean {
  const { command, url, auth, headers = {} } = server
  const target = transportOf(server) === 'stdio' ? command : url
  const hasAuthorization = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  const hasAuth = auth !== undefined && auth.strategy !== 'none'
  return target !== undefined && target.trim() !== '' && !(hasAuth && hasAuthorization)
}

/**
 * Migrates the MCP servers of agent settings from before schema version 5: the member `type` becomes `transport`, and
 * the transport `shttp` becomes `http`.
 */
export function migrateServers(agentSettings: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { mcp_config: servers } = agentSettings
  if (!isObject(servers)) return agentSettings
  const entries = Object.entries(servers).map(([name, server]) => [name, migrateServer(server)] as const)
  return { ...agentSettings, mcp_config: Object.fromEntries(entries) }
}

function migrateServer(server: unknown): unknown {
  if (!isObject(server)) return server
  const { type, ...rest } = server
  const transport = rest['transport'] ?? type
  if (transport === undefined) return rest
  return { ...rest, transport: transport === 'shttp' ? 'http' : transport }
}
