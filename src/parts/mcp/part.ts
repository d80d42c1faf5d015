/** The part `mcp`: MCP servers for the built-in agent, and sign-ins to them for all agents. */
import { bytes, milliseconds } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

const MiB = 1024 * 1024
const second = 1000

const options = {
  mcpStartTimeoutMs: milliseconds(60 * second, 'Agents', 'Time for an MCP server to start and list its tools'),
  mcpPatienceMs: milliseconds(
    5 * second, 'Agents', 'Time that a step of the built-in agent waits for MCP servers that are starting',
  ),
  mcpMessageLimitBytes: bytes(8 * MiB, 'Message of an MCP server'),
}

export const mcp = {
  name: 'mcp',
  about: 'MCP servers for the built-in agent, and sign-ins to them for all agents',
  options,
  routes: {
    // A trial or a sign-in starts a program or sends requests, as changed settings can. So it needs `configure` too.
    'POST /api/mcp/test': 'configure',
    'POST /api/mcp/oauth/start': 'configure',
    'GET /api/mcp/oauth/status/{job_id}': 'configure',
    'POST /api/mcp/oauth/callback/{job_id}': 'configure',
    // The browser has no key. The `state` in its query, which is valid once, stands for a key.
    'GET /api/mcp/oauth/callback': 'open',
    'DELETE /api/mcp/oauth/logins/{name}': 'configure',
  },
  offers: ['mcpTools', 'mcpTokens'],
  sealedFile: { name: 'mcp-logins.json', load: async () => (await import('./oauth/login-file.ts')).openSealedLogins },
  spec: () => import('./spec.ts'),
  needs: [
    'config', 'environment', 'log', 'masker', 'clock', 'dataDir', 'instanceId', 'cgroupParent', 'cipher',
    'secretValues', 'urls',
  ],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
