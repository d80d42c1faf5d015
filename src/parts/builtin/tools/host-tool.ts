/**
 * A tool of the embedding program (the host), as a tool of the built-in agent (agents/from-host.ts). Its calls are
 * recorded as MCPToolAction (decisions 1).
 */
import type { HostTool, HostToolCall } from '../../../agents/from-host.ts'
import { toJsonObject } from '../../../base/json.ts'
import { actionOf, mcpToolDefinition, textContent, type ToolMaker } from '../../../agents/tool.ts'

/** Returns functions that make the host's tools, by tool name. */
export function hostToolMakers(
  tools: readonly HostTool[], conversation: Omit<HostToolCall, 'signal'>,
): Readonly<Record<string, ToolMaker>> {
  return Object.fromEntries(tools.map((tool) => [tool.name, makerOf(tool, conversation)]))
}

function makerOf(
  { name, description, parameters: schema, isReadOnly = false, run }: HostTool,
  { conversationId, workingDir }: Omit<HostToolCall, 'signal'>,
): ToolMaker {
  const parameters = { properties: {}, ...schema, type: 'object' }
  return () => ({
    name,
    description,
    parameters,
    definition: mcpToolDefinition({ name, description, inputSchema: parameters }, { description }),
    isReadOnly,
    read: (args) => ({ ok: true, action: { kind: 'MCPToolAction', data: args } }),
    async run(action, { signal }) {
      signal.throwIfAborted()
      const args = toJsonObject(actionOf(action, 'MCPToolAction').data)
      const result: unknown = await run(args, { conversationId, workingDir, signal })
      if (typeof result !== 'string') throw new TypeError(`run of the tool "${name}" gave no string`)
      const content = textContent(result)
      return { kind: 'MCPToolObservation', content, is_error: false, tool_name: name }
    },
  })
}
