/**
 * Resolves the settings of an MCP server into a plan for connecting, with its secrets filled in.
 *
 * `${NAME}` in a variable, a header or a credential is replaced by the secret with this name, never by a variable of
 * this process's environment. A reference to an unknown secret stays unchanged.
 */
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import type { McpServer } from '../../schema/generated/settings.ts'
import { objectOf, type Fields } from '../../base/fields.ts'
import { authHeaders } from '../../settings/mcp-credentials.ts'
import { transportOf } from '../../settings/mcp-servers.ts'

export type ServerPlan = StdioPlan | RemotePlan

export interface StdioPlan {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  /** Variables that are added to the usual environment of a child process. */
  readonly env: Readonly<Record<string, string>>
  /** The working directory. Default: the agent's working directory, and `/` in a trial. */
  readonly cwd: string | undefined
}

export interface RemotePlan {
  readonly type: 'http' | 'sse'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The `auth` settings of a server with a sign-in; undefined for any other server. */
  readonly oauth: Fields | undefined
  readonly silenceMs: number
}

type Secrets = ReadonlyMap<string, string>

const usualSilenceMs = 300_000
const usualCallMs = 120_000
const longestMs = 3_600_000

/**
 * Makes the plan for connecting to a server. @throws AppError `bad_request` when the command or the address is missing.
 */
export function planServer(server: McpServer, secrets: Secrets): ServerPlan {
  const type = transportOf(server)
  const target = type === 'stdio' ? server.command : server.url
  if (target === undefined || target.trim() === '') {
    throw new AppError(
      'bad_request', `Cannot reach the server: expected ${type === 'stdio' ? 'a command' : 'an address'}`,
    )
  }
  const { args = [], env = {}, cwd, headers = {} } = server
  if (type === 'stdio') return { type, command: target, args, env: textsOf(filledIn(env, secrets)), cwd }
  const auth = objectOf(filledIn(server.auth, secrets))
  const oauth = auth['strategy'] === 'oauth2' ? auth : undefined
  const credentials = oauth === undefined ? authHeaders(auth) : {}
  const silenceMs = milliseconds(server.sse_read_timeout, usualSilenceMs)
  return {
    type,
    url: target,
    headers: { ...textsOf(filledIn(headers, secrets)), ...textsOf(credentials) },
    oauth,
    silenceMs,
  }
}

/** Returns how long, in milliseconds, a call of a tool may run until its result or its next report of progress. */
export function callSilenceMs({ timeout }: McpServer): number {
  return milliseconds(timeout, usualCallMs)
}

/** Returns the names of the secrets that variables, headers and `auth` in the settings refer to. */
export function secretsNamedBy({ env, headers, auth }: McpServer): ReadonlySet<string> {
  return new Set([...JSON.stringify([env, headers, auth]).matchAll(reference)].flatMap(([, name]) => name ?? []))
}

/** A reference: a dollar sign and a name in braces. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

function filledIn(value: unknown, secrets: Secrets): unknown {
  if (typeof value === 'string') return value.replaceAll(reference, (whole, name: string) => secrets.get(name) ?? whole)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filledIn(member, secrets)]))
}

function textsOf(values: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(objectOf(values)).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}

function milliseconds(seconds: number | undefined, usualMs: number): number {
  if (seconds === undefined || seconds <= 0) return usualMs
  return Math.max(1, Math.min(Math.round(seconds * 1000), longestMs))
}
