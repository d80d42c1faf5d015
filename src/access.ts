/**
 * Access control: lists each route of the core with the right that it needs.
 *
 * A route with the right `open` needs no key. A route with `init` may need a key of its own. A session key has all
 * other rights. A named key has the rights of its scopes.
 */

export type Right =
  /** Routes that need no key, such as health checks and OAuth callbacks. They show no stored data. */
  | 'open'
  /** Initializes a server that started dormant. Needs the header `X-Init-API-Key` when a secret key is configured. */
  | 'init'
  /** Reads conversations, events and settings, without secret values. */
  | 'read'
  /** Creates and controls conversations. With the header `X-Expose-Secrets: encrypted`, reads encrypted secrets. */
  | 'drive'
  /** Answers the questions of agents: accepts or rejects pending actions. */
  | 'approve'
  /** Changes settings, including commands that future conversations run. */
  | 'configure'
  /** Reads and changes secret values. The header `X-Expose-Secrets: plaintext` needs this right as well. */
  | 'secrets'
  /** Lists and revokes named keys, and lists and ends sessions of the console. */
  | 'keys'
  /** Reads and writes files of this machine as the server's user, except the server's own data. */
  | 'files'
  /** Reads files of workspaces. Instead of a key, a request may have the cookie of a workspace session. */
  | 'workspace'
  /** Runs commands and reads their output, and changes the installed programs and plugins, as the server's user. */
  | 'execute'
  /** Reads the metrics of the server: counts, times and sizes. */
  | 'metrics'

/** The scopes that a named key can have. */
export const scopes = ['read', 'drive', 'approve', 'configure', 'admin', 'metrics'] as const
export type Scope = (typeof scopes)[number]

/** For each right, the scope that a named key needs for it. No scope contains another scope. */
export const scopeOf: Readonly<Record<Exclude<Right, 'open' | 'init'>, Scope>> = {
  read: 'read',
  workspace: 'read',
  drive: 'drive',
  approve: 'approve',
  configure: 'configure',
  secrets: 'admin',
  keys: 'admin',
  files: 'admin',
  execute: 'admin',
  metrics: 'metrics',
}

/** The rights of a session key: all except `open` and `init`. */
export const allRights: ReadonlySet<string> = rightsOf(scopes)

/** Returns the rights of a key with these scopes. Ignores words that name no scope. */
export function rightsOf(wanted: readonly string[]): ReadonlySet<string> {
  return new Set(Object.entries(scopeOf).flatMap(([right, scope]) => (wanted.includes(scope) ? [right] : [])))
}

export const access = {
  'GET /alive': 'open',
  'GET /health': 'open',
  'GET /ready': 'open',
  'GET /server_info': 'open',
  'GET /': 'open',
  'GET /openapi.json': 'open',

  'GET /api/init': 'open',
  'POST /api/init': 'init',

  'POST /api/conversations': 'drive',
  'GET /api/conversations': 'read',
  'GET /api/conversations/search': 'read',
  'GET /api/conversations/count': 'read',
  'GET /api/conversations/{conversation_id}': 'read',
  'PATCH /api/conversations/{conversation_id}': 'drive',
  'DELETE /api/conversations/{conversation_id}': 'drive',
  'POST /api/conversations/{conversation_id}/run': 'drive',
  'POST /api/conversations/{conversation_id}/pause': 'drive',
  'POST /api/conversations/{conversation_id}/interrupt': 'drive',
  'POST /api/conversations/{conversation_id}/confirmation_policy': 'drive',
  'POST /api/conversations/{conversation_id}/security_analyzer': 'drive',
  'POST /api/conversations/{conversation_id}/secrets': 'secrets',
  'POST /api/conversations/{conversation_id}/switch_llm': 'drive',
  'POST /api/conversations/{conversation_id}/switch_profile': 'drive',
  'POST /api/conversations/{conversation_id}/switch_acp_model': 'drive',
  'POST /api/conversations/{conversation_id}/switch_acp_mode': 'drive',
  'POST /api/conversations/{conversation_id}/switch_acp_option': 'drive',
  'POST /api/conversations/{conversation_id}/ask_agent': 'drive',
  'POST /api/conversations/{conversation_id}/goal': 'drive',
  'POST /api/conversations/{conversation_id}/goal/stop': 'drive',
  'POST /api/conversations/{conversation_id}/goal/resume': 'drive',
  'POST /api/conversations/{conversation_id}/condense': 'drive',
  'POST /api/conversations/{conversation_id}/fork': 'drive',
  'POST /api/conversations/{conversation_id}/navigate': 'drive',
  'GET /api/conversations/{conversation_id}/confirmations': 'read',
  'GET /api/conversations/{conversation_id}/agent_final_response': 'read',

  'POST /api/conversations/{conversation_id}/events': 'drive',
  'GET /api/conversations/{conversation_id}/events': 'read',
  'GET /api/conversations/{conversation_id}/events/search': 'read',
  'GET /api/conversations/{conversation_id}/events/stream': 'read',
  'GET /api/conversations/{conversation_id}/events/count': 'read',
  'GET /api/conversations/{conversation_id}/events/{event_id}': 'read',
  'POST /api/conversations/{conversation_id}/events/respond_to_confirmation': 'approve',

  'GET /api/settings': 'read',
  'PATCH /api/settings': 'configure',
  'POST /api/settings/mcp/{key}': 'configure',
  'PATCH /api/settings/mcp/{key}': 'configure',
  'DELETE /api/settings/mcp/{key}': 'configure',
  'GET /api/settings/secrets': 'read',
  'PUT /api/settings/secrets': 'secrets',
  'GET /api/settings/secrets/{name}': 'secrets',
  'DELETE /api/settings/secrets/{name}': 'secrets',

  'GET /api/profiles': 'read',
  'GET /api/profiles/{name}': 'read',
  'POST /api/profiles/{name}': 'configure',
  'DELETE /api/profiles/{name}': 'configure',
  'POST /api/profiles/{name}/rename': 'configure',
  'POST /api/profiles/{name}/activate': 'configure',

  'GET /api/tools/': 'read',

  // A client that sends a message needs `drive` as well.
  'GET /sockets/events/{conversation_id}': 'read',
} as const satisfies Record<string, Right>

/** The core's routes without a conversation in the path that admit a key which is restricted to a conversation tag. */
export const forRestricted: ReadonlySet<string> = new Set<RouteName>([
  'POST /api/conversations',
  'GET /api/conversations',
  'GET /api/conversations/search',
  'GET /api/conversations/count',
  'GET /api/settings',
  'GET /api/profiles',
  'GET /api/profiles/{name}',
  'GET /api/tools/',
])

/** POST routes with the right `drive` that the server serves also while it shuts down, as they begin no work. */
export const settling: ReadonlySet<string> = new Set<RouteName>([
  'POST /api/conversations/{conversation_id}/pause',
  'POST /api/conversations/{conversation_id}/interrupt',
  'POST /api/conversations/{conversation_id}/goal/stop',
  'POST /api/conversations/{conversation_id}/confirmation_policy',
  'POST /api/conversations/{conversation_id}/security_analyzer',
])

/** Method and path pattern of a route of the core. */
export type RouteName = keyof typeof access
