/**
 * A request in the form that handlers get, and the functions with which handlers read its body, query and path.
 *
 * Each reading function returns a value that fits its schema, or throws AppError `invalid_input`.
 */
import { AppError, type Issue } from '../base/errors.ts'
import type { ErrorForm, Exchange, HttpResponse } from '../http/reply.ts'
import { parameterOf, type Method, type PathParameters } from '../http/router.ts'
import { readQuery, uuid, type QueryFields, type QueryValues } from '../http/query.ts'
import { parse, type Checked } from '../schema/check.ts'
import { ignoredMembers } from '../schema/ignored.ts'
import type { Principal } from '../http/principal.ts'
import type { Guarded } from './permission.ts'
import { jsonResponse } from './problem.ts'

export interface Call {
  readonly exchange: Exchange
  readonly principal: Principal
  readonly parameters: PathParameters
  /** The query without its question mark; empty if the target has no query. */
  readonly query: string
  /** The parsed body; undefined without a body, and for a handler that reads the body itself. */
  readonly body: unknown
}

const batchLimit = 1000

export type Handle = (call: Call) => HttpResponse | Promise<HttpResponse>

export interface Route extends Guarded {
  readonly method: Method
  readonly pattern: string
  /** True for a POST route with the right `drive` or `execute` that is still served while the server shuts down. */
  readonly isIdle: boolean
  readonly handle: Handle
  /** True when the handler reads the body of the request itself. */
  readonly readsBody: boolean
  readonly errorForm?: ErrorForm | undefined
}

/** Returns the body, checked against a schema type and in its normal form. Throws if the body is missing. */
export function bodyOf<Input, Normal>(call: Call, type: Checked<Input, Normal>): Normal {
  if (call.body === undefined) throw bodyMissing()
  return parsed(type, call.body, call)
}

/** Returns the checked body of a request whose body is optional; an absent body and `null` are read as `{}`. */
export function optionalBodyOf<Input, Normal>(call: Call, type: Checked<Input, Normal>): Normal {
  return parsed(type, call.body ?? {}, call)
}

/** Returns the ids in the body of a batch: an array of at most `batchLimit` strings. */
export function idsInBody({ body }: Call): string[] {
  if (body === undefined) throw bodyMissing()
  if (!Array.isArray(body)) {
    throw invalid([{ type: 'list_type', loc: ['body'], msg: 'Input should be a valid list', input: body }])
  }
  if (body.length > batchLimit) throw tooLong(['body'], body.length, batchLimit)
  return body.map((id: unknown, index) => {
    if (typeof id === 'string') return id
    throw invalid([{ type: 'string_type', loc: ['body', index], msg: 'Input should be a valid string', input: id }])
  })
}

export function queryOf<F extends QueryFields>(call: Call, fields: F): QueryValues<F> {
  const result = readQuery(call.query, fields)
  if (result.ok) return result.value
  throw invalid(result.issues)
}

const conversationId = uuid()

/** Returns the conversation id of the path, dashed and in lower case. */
export function conversationIdOf(call: Call): string {
  const name = 'conversation_id'
  const reading = conversationId.read([parameterOf(call.parameters, name)])
  if (reading.ok && reading.value !== undefined) return reading.value
  throw invalid(reading.ok ? [] : [{ ...reading.fault, loc: ['path', name] }])
}

/** Returns a signal that aborts when the response is sent or the client disconnects. */
export function clientSignal(call: Call): AbortSignal {
  const controller = new AbortController()
  call.exchange.response.once('close', () => {
    controller.abort(new AppError('bad_request', 'The client closed the connection'))
  })
  return controller.signal
}

export function ok(value: unknown): HttpResponse {
  return jsonResponse(200, value)
}

/** The response to a change that returns no data. */
export const success: HttpResponse = jsonResponse(200, { success: true })

export function invalid(issues: readonly Issue[]): AppError {
  return new AppError('invalid_input', 'The request is not valid', { issues })
}

function bodyMissing(): AppError {
  return invalid([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }])
}

export function tooLong(loc: readonly (string | number)[], length: number, limit: number): AppError {
  const msg = `List should have at most ${limit} items after validation, not ${length}`
  return invalid([{ type: 'too_long', loc, msg, ctx: { max_length: limit } }])
}

function parsed<Input, Normal>(type: Checked<Input, Normal>, body: unknown, call: Call): Normal {
  const result = parse(type, body)
  if (!result.ok) throw invalid(result.issues.map((issue) => ({ ...issue, loc: ['body', ...issue.loc] })))
  tellIgnored(call, ignoredMembers(type, body, ignoredLimit))
  return result.value
}

/** Names members of a request that have no effect, in the header `X-Ignored-Members` and in the log of requests. */
export function tellIgnored(call: Call, members: readonly string[]): void {
  if (members.length === 0) return
  const { exchange } = call
  const words = members.map(headerWord).join(', ')
  exchange.ignored = exchange.ignored === undefined ? words : `${exchange.ignored}, ${words}`
  exposeHeader(call, 'X-Ignored-Members', words)
}

/** Adds a header to the response, and lets pages of allowed origins read it. */
export function exposeHeader({ exchange }: Call, name: string, value: string): void {
  exchange.headers.push(name, value, 'Access-Control-Expose-Headers', name)
}

/** The most members that `X-Ignored-Members` names for a body, and the most characters of the path of each. */
const ignoredLimit = 20
const ignoredChars = 100

/** Returns the path of a member, cut to `ignoredChars`, percent-encoded for a header (RFC 3986, section 2.1). */
function headerWord(path: string): string {
  // `encodeURIComponent` throws on a lone surrogate. The conversion to UTF-8 and back replaces lone surrogates.
  return encodeURIComponent(Buffer.from(path.slice(0, ignoredChars)).toString())
}
