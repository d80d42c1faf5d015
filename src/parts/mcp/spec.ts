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
  tools: optional(arrayOf(string), 'The names of the tools.'),
  tool_result: optional(ref('McpTestToolResult')),
  oauth_state: optional(openObject, 'The login of a server with OAuth: encrypted, for `auth.state` in its settings.'),
  error: optional(string),
  error_kind: optional(oneOf('timeout', 'connection', 'unknown')),
}

export const definitions: Definitions = {
  McpTestRequest: tolerant('An MCP server to try.', {
    name: defaultTo('test-server', stringOf({ minLength: 1, maxLength: 128 })),
    server: secret(required(openObject, 'The settings of the server, with plain or encrypted values.')),
    timeout: defaultTo(15, numberOf({ exclusiveMinimum: 0, maximum: 120 }), 'The time limit, in seconds.'),
    tool_call: optional(ref('McpTestCall'), 'A tool to call.'),
  }),
  McpTestCall: tolerant('A call of a tool.', {
    name: required(string),
    arguments: defaultTo({}, openObject),
  }),
  McpTestResult: response('The result of a trial.', {
    ok: required(boolean),
    ...mcpOutcome,
  }),
  McpTestToolResult: response('The result of the tool.', { is_error: required(boolean), text: required(string) }),
  McpOAuthStart: response('A sign-in that has begun, or the reason why none has begun.', {
    ok: required(boolean),
    job_id: optional(string),
    authorization_url: optional(string, "The address for the user's browser."),
    error: optional(string),
    error_kind: mcpOutcome.error_kind,
  }),
  McpOAuthStatus: response('A sign-in.', {
    ok: required(boolean),
    status: required(oneOf('pending', 'authorizing', 'succeeded', 'failed')),
    job_id: required(string),
    authorization_url: optional(string, "The address for the user's browser, until an answer has come."),
    callback_ready: required(boolean, 'True while the sign-in waits for an answer.'),
    ...mcpOutcome,
  }),
  McpOAuthCallback: tolerant('The answer to a sign-in, delivered by hand.', {
    callback_url: secret(required(string, 'The whole address to which the browser was sent.')),
  }),
}

export const endpoints: readonly Endpoint[] = inGroup('MCP', [
  {
    ...post('/api/mcp/test', 'Try an MCP server', 'McpTestRequest'),
    responses: { 200: responseOf('Whether it works', ref('McpTestResult')) },
  },
  {
    ...post('/api/mcp/oauth/start', 'Sign in to an MCP server', 'McpTestRequest'),
    responses: { 200: responseOf('The sign-in and its address', ref('McpOAuthStart')) },
  },
  get('/api/mcp/oauth/status/{job_id}', 'Get a sign-in to an MCP server', ref('McpOAuthStatus')),
  {
    ...post('/api/mcp/oauth/callback/{job_id}', 'Deliver the response to a sign-in by hand', 'McpOAuthCallback'),
    responses: { 200: responseOf('The sign-in', ref('McpOAuthStatus')), 409: conflict('No answer is expected') },
  },
  {
    ...get('/api/mcp/oauth/callback', 'Deliver the response to a sign-in, as browsers do', string),
    responses: {
      200: { doc: 'A page that says that the answer has arrived.', mediaType: 'text/html' },
      400: { doc: 'A page that says that no sign-in waits for this answer.', mediaType: 'text/html' },
    },
  },
  {
    ...post('/api/mcp/oauth/logins/{name}', 'Forget the logins to MCP servers of a name'),
    method: 'DELETE',
    responses: { 200: responseOf('Forgotten', ref('Deleted')) },
  },
])
