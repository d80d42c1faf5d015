/**
 * REST handlers for MCP servers: trials, and sign-ins (contract/others.md, section 6).
 *
 * A trial has the status 200 even when the server does not work. The callback of a sign-in responds with one of two
 * fixed pages, which repeat nothing of the request.
 */
import { AppError, type Issue } from '../../base/errors.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import { McpOAuthCallback, McpTestRequest } from './generated.ts'
import { bodyOf, clientSignal, invalid, ok, type Call } from '../../api/call.ts'
import type { McpService } from './service.ts'

export interface McpParts {
  readonly mcp: Omit<McpService, 'close'>
}

export function testMcpServer({ mcp }: McpParts, call: Call): Promise<HttpResponse> {
  return answerFor(mcp.test(bodyOf(call, McpTestRequest), clientSignal(call)))
}

export function startSignIn({ mcp }: McpParts, call: Call): Promise<HttpResponse> {
  return answerFor(mcp.startSignIn(bodyOf(call, McpTestRequest)))
}

export function getSignIn({ mcp }: McpParts, { parameters }: Call): HttpResponse {
  return ok(mcp.signIn(parameterOf(parameters, 'job_id')))
}

export function takeAddress({ mcp }: McpParts, call: Call): HttpResponse {
  return ok(mcp.takeAddress(parameterOf(call.parameters, 'job_id'), bodyOf(call, McpOAuthCallback).callback_url))
}

/** Gives a redirected browser's query to the sign-in with the same `state`. A HEAD request is refused with 400. */
export function takeAnswer({ mcp }: McpParts, { exchange, query }: Call): HttpResponse {
  const isTaken = exchange.request.method === 'GET' && mcp.takeAnswer(new URLSearchParams(query))
  const headers = ['Content-Security-Policy', "default-src 'none'", 'Referrer-Policy', 'no-referrer']
  return {
    status: isTaken ? 200 : 400,
    headers,
    type: 'text/html; charset=utf-8',
    body: isTaken ? takenPage : strangePage,
  }
}

export async function signOut({ mcp }: McpParts, { parameters }: Call): Promise<HttpResponse> {
  await mcp.signOut(parameterOf(parameters, 'name'))
  return ok({ deleted: true })
}

const takenPage = page('The answer has arrived', 'You may close this window.')
const strangePage = page(
  'No sign-in waits for this answer', 'It is unknown here, was answered already, or took too long.',
)

function page(title: string, text: string): Buffer {
  return Buffer.from(`<!DOCTYPE html>\n<html lang="en"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`)
}

async function answerFor(result: Promise<object>): Promise<HttpResponse> {
  try {
    return ok(await result)
  } catch (error) {
    throw error instanceof AppError && error.code === 'invalid_input' ? invalid([unsound]) : error
  }
}

/** The error for invalid server settings. It does not repeat the settings, which may hold secrets. */
const unsound: Issue = {
  type: 'value_error',
  loc: ['body', 'server'],
  msg: 'Value error, expected the settings of an MCP server: a command or an address, and no Authorization header ' +
    'beside auth',
  input: null,
}
