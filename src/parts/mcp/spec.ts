/**
 * Requests and responses about MCP servers: trials before a server goes into the settings, and sign-ins
 * (contract/others.md, section 6).
 */
import {
  arrayOf, boolean, defaultTo, numberOf, oneOf, openObject, optional, ref, required, response, secret, string, stringOf,
  tolerant, type Definitions, type Endpoint,
} from '../../schema/spec/define.ts'
import { conflict, get, inGroup, post, responseOf } from '../../schema/spec/operation.ts'

const mcpOutcome = {
  tools: optional(arrayOf(string), 'Their names.'),
  tool_result: optional(ref('McpTestToolResult')),
  oauth_state: optional(openObject, 'Of a server with OAuth: encrypted, for `auth.state` in its settings.'),
  error: optional(string),
  error_kind: optional(oneOf('timeout', 'connection', 'unknown')),
}

export const definitions: Definitions = {
  McpTestRequest: tolerant('An MCP server to try.', {
    name: defaultTo('test-server', stringOf({ minLength: 1, maxLength: 128 })),
    server: secret(required(openObject, 'As in the settings, with plain or encrypted values.')),
    timeout: defaultTo(15, numberOf({ exclusiveMinimum: 0, maximum: 120 }), 'Seconds.'),
    tool_call: optional(ref('McpTestCall'), 'A tool to call.'),
  }),
  McpTestCall: tolerant('A call of a tool.', {
    name: required(string),
    arguments: defaultTo({}, openObject),
  }),
  McpTestResult: response('What became of the try.', {
    ok: required(boolean),
    ...mcpOutcome,
  }),
  McpTestToolResult: response('What the tool gave.', { is_error: required(boolean), text: required(string) }),
  McpOAuthStart: response('A sign-in that has begun, or why it has not.', {
    ok: required(boolean),
    job_id: optional(string),
    authorization_url: optional(string, "For the user's browser."),
    error: optional(string),
    error_kind: mcpOutcome.error_kind,
  }),
  McpOAuthStatus: response('A sign-in.', {
    ok: required(boolean),
    status: required(oneOf('pending', 'authorizing', 'succeeded', 'failed')),
    job_id: required(string),
    authorization_url: optional(string, "For the user's browser, until it has brought an answer."),
    callback_ready: required(boolean, 'An answer is waited for.'),
    ...mcpOutcome,
  }),
  McpOAuthCallback: tolerant('What became of the browser.', {
    callback_url: secret(required(string, 'The whole address to which it was sent.')),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('MCP', [
  {
    ...post('/api/mcp/test', 'Try an MCP server', 'McpTestRequest'),
    responses: { 200: responseOf('Whether it works', ref('McpTestResult')) },
  },
  {
    ...post('/api/mcp/oauth/start', 'Sign in to an MCP server', 'McpTestRequest'),
    responses: { 200: responseOf('Where the user agrees', ref('McpOAuthStart')) },
  },
  get('/api/mcp/oauth/status/{job_id}', 'Get a sign-in to an MCP server', ref('McpOAuthStatus')),
  {
    ...post('/api/mcp/oauth/callback/{job_id}', 'Deliver the response to a sign-in by hand', 'McpOAuthCallback'),
    responses: { 200: responseOf('The sign-in', ref('McpOAuthStatus')), 409: conflict('It waits for no answer') },
  },
  {
    ...get('/api/mcp/oauth/callback', 'Deliver the response to a sign-in, as browsers do', string),
    responses: {
      200: { doc: 'A page that says so.', mediaType: 'text/html' },
      400: { doc: 'A page that says that no sign-in waits for this.', mediaType: 'text/html' },
    },
  },
  {
    ...post('/api/mcp/oauth/logins/{name}', 'Forget the logins to MCP servers of a name'),
    method: 'DELETE',
    responses: { 200: responseOf('Forgotten', ref('Deleted')) },
  },
])
