/**
 * The server's information about itself: health and versions, without a key (contract: others.md section 10); and its
 * tools.
 *
 * `version` is the API level that existing clients check before they use a server; this server's own name and version
 * are in fields of their own (decisions 34). Nothing here reveals stored data.
 */
import { readFile } from 'node:fs/promises'
import { objectOf } from '../base/fields.ts'
import { parseOwnJson } from '../base/json.ts'
import type { Clock } from '../base/stamp.ts'
import type { HttpResponse } from '../http/reply.ts'
import { ok } from './call.ts'
import { jsonResponse } from './problem.ts'

/** The level of the public API that this server implements, as a version number that clients know. */
export const apiLevel = '1.43.1'

export interface Meta {
  readonly productVersion: string
  readonly capabilities: readonly string[]
  /** The names of the built-in agent's tools. */
  readonly usableTools: () => Promise<readonly string[]>
  /** The names of the parts that may be loaded. */
  readonly parts: readonly string[]
  /** The OpenAPI description of the routes of this server. */
  readonly description: () => Promise<Buffer>
  readonly clock: Clock
  /** When the server was started: milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds since the last request that needed a key. */
  readonly idleMs: () => number
  /** Why the server cannot take work, or undefined when it can. */
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
    docs: '/openapi.json',
    redoc: '/openapi.json',
  })
}

/** Tools of the built-in agent (contract: others.md section 4). */
export async function tools({ meta }: { readonly meta: Meta }): Promise<HttpResponse> {
  return ok(await meta.usableTools())
}

export async function openapi({ meta }: { readonly meta: Meta }): Promise<HttpResponse> {
  return { status: 200, body: await meta.description() }
}

/**
 * A reader of the OpenAPI description: a generated file, made from the same schema as the validators, without the
 * routes of absent parts. The first call reads the file.
 * @param routes method and pattern of every route of this server
 */
export function createDescription(routes: readonly string[]): () => Promise<Buffer> {
  let description: Buffer | undefined
  return async () => {
    if (description !== undefined) return description
    const file = await readFile(new URL('../schema/generated/openapi.json', import.meta.url))
    return (description = withoutStrangers(file, new Set(routes)))
  }
}

function withoutStrangers(file: Buffer, routes: ReadonlySet<string>): Buffer {
  const { paths, ...document } = objectOf(parseOwnJson(file.toString('utf8')))
  let isWhole = true
  const there = Object.entries(objectOf(paths)).flatMap(([path, item]) => {
    const methods = Object.entries(objectOf(item)).filter(([method]) => routes.has(`${method.toUpperCase()} ${path}`))
    if (methods.length < Object.keys(objectOf(item)).length) isWhole = false
    return methods.length === 0 ? [] : [[path, Object.fromEntries(methods)] as const]
  })
  return isWhole ? file : Buffer.from(JSON.stringify({ ...document, paths: Object.fromEntries(there) }))
}
