/**
 * A tool that the client of a conversation declares and runs itself (contract/payloads.md, `ClientTool`).
 *
 * A call is recorded as an MCPToolAction (decisions 1). The server does not wait for a result. A client that has one
 * can send it as a message.
 */
import { AppError } from '../../../base/errors.ts'
import { toJsonObject, type JsonObject } from '../../../base/json.ts'
import type { ClientTool } from '../../../schema/generated/conversations.ts'
import { mcpToolDefinition, textContent, type ReadResult, type Tool, type ToolSet } from '../../../agents/tool.ts'

/** Returns the set with the client's tools added. @throws AppError `invalid_input` for a name that `set` has already */
export function withClientTools(set: ToolSet, clientTools: readonly ClientTool[]): ToolSet {
  const taken = clientTools.find(({ name }) => set.tools.some((tool) => tool.name === name))
  if (taken !== undefined) {
    throw new AppError('invalid_input', `Cannot use the client tool "${taken.name}": the agent has a tool of this name`)
  }
  return clientTools.length === 0 ? set : { ...set, tools: [...set.tools, ...clientTools.map(createClientTool)] }
}

export function createClientTool({ name, description, parameters: schema, annotations }: ClientTool): Tool {
  const parameters = { properties: {}, ...toJsonObject(schema), type: 'object' }
  return {
    name,
    description,
    parameters,
    definition: mcpToolDefinition(
      { name, description, inputSchema: parameters },
      annotations === undefined ? { description } : { description, annotations },
    ),
    isReadOnly: annotations?.readOnlyHint === true,
    read: (args) => readCall(args, parameters),
    async run(_action, { signal }) {
      signal.throwIfAborted()
      const content = textContent(
        `The call of '${name}' was handed on to the client. No result of it will come back here.`,
      )
      return { kind: 'MCPToolObservation', content, is_error: false, tool_name: name }
    },
  }
}

function readCall(args: JsonObject, { required }: JsonObject): ReadResult {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  const missing = names.find((name) => !Object.hasOwn(args, name))
  if (missing !== undefined) return { ok: false, problem: `${missing}: required, but missing` }
  return { ok: true, action: { kind: 'MCPToolAction', data: args } }
}
