/** The operations of the parts: those of MCP, and those that stand beside the types of a part. */
import { ref, string, type Endpoint } from '../define.ts'
import { fileEndpoints } from './files.ts'
import { conflict, get, inGroup, post, responseOf } from './operation.ts'
import { skillEndpoints } from './skills.ts'

export const partEndpoints: readonly Endpoint[] = [
  ...inGroup('MCP', [
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
      ...post('/api/mcp/oauth/callback/{job_id}', 'Bring the answer to a sign-in by hand', 'McpOAuthCallback'),
      responses: { 200: responseOf('The sign-in', ref('McpOAuthStatus')), 409: conflict('It waits for no answer') },
    },
    {
      ...get('/api/mcp/oauth/callback', 'Bring the answer to a sign-in, as browsers do', string),
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
  ]),
  ...skillEndpoints,
  ...fileEndpoints,
]
