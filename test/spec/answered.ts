/**
 * Notes the status of each response of an operation, and checks its headers. At the end, each operation must have
 * answered once with a success and once with an error, unless this file names another test for that response.
 */
import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { member, type RestResponse } from '../support/rest.ts'
import { faultOf } from './proofs.ts'
import { parseProof } from './sentences/sentence.ts'

/** Of the connection and of the body; the caller checks the type of the body. */
const passing: ReadonlySet<string> = new Set([
  'date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'content-type', 'x-request-id',
])
const usual = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "frame-ancestors 'none'",
  'cache-control': 'no-store',
}
const page = "frame-ancestors 'none', default-src 'none'"
const strictPage = `${page}; base-uri 'none'; form-action 'none'`
const plain = { 'referrer-policy': 'no-referrer' }
const signedIn = { 'set-cookie': /^agent_server_console_\d+=[\w-]{43}; .*HttpOnly; SameSite=Strict/ }
const oncePerRun = { 'x-should-retry': 'false' }

/** The headers besides the usual ones, by operation and status, or `any`; a pattern stands for a value that varies. */
const own: Readonly<Record<string, Readonly<Record<string, string | RegExp>>>> = {
  'GET /docs any': { ...plain, 'content-security-policy': strictPage },
  'GET /redoc any': { ...plain, 'content-security-policy': strictPage },
  'GET /api/mcp/oauth/callback any': { ...plain, 'content-security-policy': page },
  'GET /console/ any': {
    ...plain,
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    vary: 'Accept-Encoding',
    'cache-control': 'no-cache',
    'content-security-policy': /^frame-ancestors 'none', default-src 'none'; .*trusted-types 'none'$/,
  },
  'POST /v1/chat/completions 200': {
    ...oncePerRun,
    'x-openhands-serverconversation-id': /^[0-9a-f-]{36}$/,
    'access-control-expose-headers': 'X-OpenHands-ServerConversation-ID',
  },
  'POST /v1/chat/completions any': oncePerRun,
  'POST /api/auth/workspace-session 204': {
    'set-cookie': /^oh_workspace_session_key=[\w-]{43}; .*HttpOnly; Max-Age=43200;/,
  },
  'DELETE /api/auth/workspace-session 204': { 'set-cookie': /^oh_workspace_session_key=; .*Max-Age=0;/ },
  'POST /api/console/sign-in 200': signedIn,
  'POST /api/console/sessions 200': signedIn,
  'POST /api/console/sign-out 200': { 'set-cookie': /^agent_server_console_\d+=; .*Max-Age=0/ },
  'GET /console/assets/{digest}/{file} 200': {
    vary: 'Accept-Encoding', 'cache-control': /^(public|private), max-age=31536000, immutable$/,
  },
  'GET /api/conversations/{conversation_id}/workspace/{path} 200': {
    'content-security-policy': "sandbox allow-scripts allow-forms allow-popups; frame-ancestors 'self'",
  },
  'GET /api/file/archive 200': {
    'content-disposition': /^attachment; filename="[\w.-]+"/,
    'x-archive-repo-root': /^%2F.*repository$|^\/.*repository$/,
    'x-archive-branch': /^\w+$/,
    'x-archive-head-commit': /^[0-9a-f]{40}$/,
    'x-archive-base-commit': /^([0-9a-f]{40})?$/,
  },
  'GET /api/file/download 200': { 'content-disposition': `attachment; filename="file"; filename*=UTF-8''file` },
  'GET /api/file/download-trajectory/{conversation_id} 200': {
    'content-disposition': /^attachment; filename="[\w.-]+"/,
  },
}

/** A response that needs more than a request, by `success` or `refusal`, and the test that has it. */
const elsewhere: Readonly<Record<string, string>> = {
  'success GET /api/conversations/{conversation_id}/events/stream':
    'e2e/event-stream: a stream gives the state, then every event under its own id, then what happens',
  'success GET /api/keys': 'parts/keys/ending: an expired key opens nothing, and its connections end',
  'success GET /api/keys/current':
    'parts/keys/scopes: the session key of the options has every right, and an unknown key none',
  'success DELETE /api/keys/{key_name}': 'parts/keys/ending: the route that revokes a key ends its connections',
  'refusal DELETE /api/keys/{key_name}': 'parts/keys/ending: the route that revokes a key ends its connections',
  'success GET /api/console/changes':
    'parts/console/changes: one stream tells of every conversation: created, renamed, removed; it ends with the ' +
    'session',
  'success POST /api/conversations/{conversation_id}/condense':
    'e2e/condense: a client has the history condensed, forks it with its summary, and leads it back to before',
  'success POST /api/agents/{name}/install':
    'parts/install/jobs: installs the version of the table, tells how far it is, and the agent is then described as ' +
    'there',
  'success POST /api/webhooks/dead_letters/{letter_id}/redeliver':
    'parts/webhooks/webhooks: shows what was given up as dead letters, and delivers them again or removes them',
  'success DELETE /api/webhooks/dead_letters/{letter_id}':
    'parts/webhooks/webhooks: shows what was given up as dead letters, and delivers them again or removes them',
  'success GET /api/init':
    'e2e/deferred-init: before the init the server is alive and ready, and says without a key that it is dormant',
  'success POST /api/init':
    'e2e/deferred-init: a delivered key protects the API at once; the key of the start opens nothing any more',
}

/** Operations that this server always refuses. */
const refused: ReadonlySet<string> = new Set([
  'GET /api/vscode/url', 'GET /api/desktop/url', 'POST /api/llm/subscription/openai/device/start',
  'POST /api/conversations/{conversation_id}/load_plugin',
])

/** Operations that take every value of their parameters: an unknown provider has no models. */
const neverRefused: ReadonlySet<string> = new Set(['GET /api/llm/models'])

export interface Operation {
  readonly name: string
  /** True without parameters and body: refused only as all routes are (route-refusals.test.ts). */
  readonly isPlain: boolean
}

/** Returns the operations of an OpenAPI description. */
export function operationsOf(document: unknown): Operation[] {
  return entries(member(document, 'paths')).flatMap(([template, methods]) => {
    return entries(methods).map(([method, operation]) => {
      const isPlain = member(operation, 'parameters') === undefined && member(operation, 'requestBody') === undefined
      return { name: `${method.toUpperCase()} ${template}`, isPlain }
    })
  })
}

function entries(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}

export class Answered {
  readonly #statuses = new Map<string, Set<number>>()

  /** Notes a response, and checks its headers. @param name the operation as in the description */
  take(name: string, { status, headers }: RestResponse): void {
    this.#statuses.set(name, new Set([...(this.#statuses.get(name) ?? []), status]))
    const more = own[`${name} ${status}`] ?? own[`${name} any`]
    const wanted: Readonly<Record<string, string | RegExp>> = { ...usual, ...more }
    const seen = Object.entries(headers).filter(([header]) => !passing.has(header))
    assert.equal(seen.map(([header]) => header).sort(), Object.keys(wanted).sort(), `the headers of ${name}: ${status}`)
    for (const [header, value] of seen) assert.ok(fits(String(value), wanted[header]), `${header}: ${value} of ${name}`)
  }

  /** Fails unless these are the operations that answered, each well and with an error. */
  assertComplete(operations: readonly Operation[]): void {
    const names = operations.map(({ name }) => name).sort()
    const others = [...names].filter((name) => this.#lacks(name, (status) => status > 0))
    assert.equal([...this.#statuses.keys(), ...others].sort(), names)
    const good = names.filter((name) => !refused.has(name) && this.#lacks(name, (status) => status < 400))
    assert.equal(good.flatMap((name) => faultOfElsewhere(`success ${name}`)), [])
    const refusable = operations.filter(({ name, isPlain }) => !isPlain && !neverRefused.has(name))
    const bad = refusable.filter(({ name }) => this.#lacks(name, (status) => status >= 400))
    assert.equal(bad.flatMap(({ name }) => faultOfElsewhere(`refusal ${name}`)), [])
  }

  #lacks(name: string, isWanted: (status: number) => boolean): boolean {
    return ![...(this.#statuses.get(name) ?? [])].some(isWanted)
  }
}

function fits(value: string, wanted: string | RegExp | undefined): boolean {
  return wanted instanceof RegExp ? wanted.test(value) : value === wanted
}

function faultOfElsewhere(what: string): string[] {
  const proof = elsewhere[what]
  const fault = proof === undefined ? 'no response and no other test' : faultOf(parseProof(proof))
  return fault === undefined ? [] : [`${what}: ${fault}`]
}
