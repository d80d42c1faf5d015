/**
 * The rules of MCP server settings that lie between members, which a schema cannot say (contract/settings.md 3.1), and
 * the older spelling of the transport.
 */
import { isObject } from '../base/json.ts'
import type { McpServer } from '../schema/generated/settings.ts'

/** A stdio server has a command and a remote one an address; `auth` and an Authorization header exclude each other. */
export function isSoundServer({ transport, command, url, auth, headers = {} }: McpServer): boolean {
  const isStdio = transport === undefined ? command !== undefined : transport === 'stdio'
  const target = isStdio ? command : url
  const hasAuthorization = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  const hasAuth = auth !== undefined && auth.strategy !== 'none'
  return target !== undefined && target.trim() !== '' && !(hasAuth && hasAuthorization)
}

/** Agent settings of before schema version 5: `type` was the name of `transport`, and `shttp` that of `http`. */
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
