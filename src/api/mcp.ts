/**
 * MCP servers over REST: a try of one, before it goes into the settings (contract: others.md, section 6).
 *
 * Whether the server works is the content of the answer; only a request that is wrong in itself has another status.
 */
import type { Answer } from '../http/reply.ts'
import { McpTestRequest, type McpTestResult } from '../schema/generated/api.ts'
import { bodyOf, clientSignal, ok, type Call } from './call.ts'

export interface McpParts {
  /** @throws AppError `invalid_input` */
  readonly testMcpServer: (request: McpTestRequest, signal: AbortSignal) => Promise<McpTestResult>
}

export async function testMcpServer(parts: McpParts, call: Call): Promise<Answer> {
  return ok(await parts.testMcpServer(bodyOf(call, McpTestRequest), clientSignal(call)))
}
