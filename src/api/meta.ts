/**
 * The routes about the server itself: health, versions and the OpenAPI description (contract/others.md, section 10),
 * and the names of the built-in agent's tools.
 *
 * `version` is the API level, which existing clients check. `server_name` and `server_version` identify this program
 * (decisions 34).
 */
import type { Clock } from '../base/stamp.ts'
import type { HttpResponse } from '../http/reply.ts'
import { ok } from './call.ts'
import { jsonResponse } from './problem.ts'

/** The level of the public API, as a version number that existing clients know. */
export const apiLevel = '1.43.1'

export interface Meta {
  readonly productVersion: string
  readonly capabilities: readonly string[]
  /** Returns the names of the built-in agent's tools that work on this machine. */
  readonly usableTools: () => Promise<readonly string[]>
  /** The names of the parts (optional modules) that no option leaves out. */
  readonly parts: readonly string[]
  /** The path of the page that the part `docs` serves; without this part, the path of `openapi.json`. */
  readonly docs: string
  /** Returns the OpenAPI description of the routes of this server, as JSON. */
  readonly description: () => Promise<Buffer>
  /** Returns the limits of the server, by name. */
  readonly limits: () => Readonly<Record<string, number>>
  readonly clock: Clock
  /** The time at which the server was started, in ms since the epoch. */
  readonly startedAt: number
  /** Returns the milliseconds since the last request that counts as work (`requests.ts`), or since the start. */
  readonly idleMs: () => number
  /** Returns why the server cannot accept work; undefined when it can. */
  readonly unreadyBecause: () => Promise<string | undefined>
}

export function alive(): HttpResponse {
  return ok({ status: 'ok' })
}

export async function ready({ meta }: { readonly meta: Meta }): Promise<HttpResponse> {
  const message = await meta.unreadyBecause()
  return message === undefined ? ok({ status: 'ready' }) : jsonResponse(503, { status: 'initializing', message })
}

export async function serverInfo({ meta }: { readonly meta: Meta }): Promise<HttpResponse> {
  return ok({
    uptime: Math.floor((meta.clock() - meta.startedAt) / 1000),
    idle_time: Math.floor(meta.idleMs() / 1000),
    title: 'Agent Server',
    version: apiLevel,
    sdk_version: apiLevel,
    server_name: 'agent-server',
    server_version: meta.productVersion,
    usable_tools: await meta.usableTools(),
    parts: meta.parts,
    capabilities: meta.capabilities,
    limits: meta.limits(),
    docs: meta.docs,
    redoc: meta.docs,
  })
}

export async function tools({ meta }: { readonly meta: Meta }): Promise<HttpResponse> {
  return ok(await meta.usableTools())
}

export async function openapi({ meta }: { readonly meta: Meta }): Promise<HttpResponse> {
  return { status: 200, body: await meta.description() }
}
