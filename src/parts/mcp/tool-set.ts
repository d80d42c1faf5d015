/**
 * Adds the tools of MCP servers to a conversation's tool set. Closing the new set closes the given set and the servers.
 * Nothing is started here.
 */
import type { ToolSet } from '../../agents/tool.ts'
import { McpServers, type McpServersOptions } from './servers.ts'

/** Returns the set with the tools of the MCP servers added; the given set when the settings name no server. */
export function withMcpServers(set: ToolSet, options: McpServersOptions): ToolSet {
  if (Object.keys(options.settings).length === 0) return set
  const servers = new McpServers(options, new Set(set.tools.map(({ name }) => name)))
  return {
    ...set,
    changing: (signal) => servers.tools(signal),
    close: async () => void (await Promise.all([set.close(), servers.close()])),
  }
}
