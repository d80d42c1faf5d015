/**
 * MCP servers over REST: a try of one, before it goes into the settings (contract: others.md, section 6).
 *
 * Whether the server works is the content of the answer; only a request that is wrong in itself has another status.
 */
import { AppError, type Issue } from '../base/errors.ts'
import type { Answer } from '../http/reply.ts'
import { McpTestRequest, type McpTestResult } from '../schema/generated/api.ts'
import { bodyOf, clientSignal, invalid, ok, type Call } from './call.ts'

export interface McpParts {
  /** @throws AppError `invalid_input` */
  readonly testMcpServer: (request: McpTestRequest, signal: AbortSignal) => Promise<McpTestResult>
}

export async function testMcpServer(parts: McpParts, call: Call): Promise<Answer> {
  const request = bodyOf(call, McpTestRequest)
  try {
    return ok(await parts.testMcpServer(request, clientSignal(call)))
  } catch (error) {
    throw error instanceof AppError && error.code === 'invalid_input' ? invalid([unsound]) : error
  }
}

/** Without the value: it holds secrets. */
const unsound: Issue = {
  type: 'value_error',
  loc: ['body', 'server'],
  msg: 'Value error, expected the settings of an MCP server: a command or an address, and no Authorization header beside auth',
  input: null,
}
