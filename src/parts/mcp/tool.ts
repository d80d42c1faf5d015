/**
 * A tool of an MCP server as a tool of the built-in agent (contract/payloads.md, MCPToolAction and MCPToolDefinition).
 *
 * The annotations of the server are shown to clients but not trusted (MCP 2025-06-18, server/tools, "Tool"). So no tool
 * counts as read-only, and the model is asked for the risk of each call.
 */
import { AppError } from '../../base/errors.ts'
import { isObject, toJsonObject, type JsonObject } from '../../base/json.ts'
import { isToolAnnotations, toToolAnnotations, type McpTool } from '../../schema/generated/tools.ts'
import { textOf, type Fields } from '../../base/fields.ts'
import { mcpToolDefinition, actionOf, type Tool } from '../../agents/tool.ts'
import { failedObservation, observationOf } from './result.ts'

export interface McpToolOptions {
  /** The tool as the server lists it, with secrets masked. */
  readonly listed: McpTool
  readonly serverName: string
  /** Calls the tool and returns the raw result. @throws AppError if there is no result; the signal's reason */
  readonly call: (args: JsonObject, signal: AbortSignal) => Promise<Fields>
}

export function createMcpTool({ listed, serverName, call }: McpToolOptions): Tool {
  const name = modelName(listed.name)
  const description = textOf(listed['description']) ?? `A tool of the MCP server "${serverName}"`
  const annotations = isToolAnnotations(listed['annotations']) ? toToolAnnotations(listed['annotations']) : undefined
  const meta = listed['_meta']
  return {
    name,
    description,
    parameters: parametersOf(listed.inputSchema),
    definition: mcpToolDefinition(listed, {
      description,
      ...(annotations === undefined ? {} : { annotations }),
      ...(isObject(meta) ? { meta } : {}),
    }),
    isReadOnly: false,
    read: (args) => ({ ok: true, action: { kind: 'MCPToolAction', data: args } }),
    async run(action, { signal }) {
      signal.throwIfAborted()
      try {
        return observationOf(name, await call(toJsonObject(actionOf(action, 'MCPToolAction').data), signal))
      } catch (error) {
        if (!(error instanceof AppError) || signal.aborted) throw error
        return failedObservation(name, error.message)
      }
    },
  }
}

/** Returns the name in the form that providers of models accept: at most 64 letters, digits, `_` and `-`. */
export function modelName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}

function parametersOf(schema: McpTool['inputSchema']): JsonObject {
  const { properties, ...rest } = toJsonObject(schema)
  return { ...rest, type: 'object', properties: isObject(properties) ? properties : {} }
}
