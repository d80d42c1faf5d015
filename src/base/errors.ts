/**
 * The error type for expected failures, AppError, and the closed list of its codes.
 *
 * The message of an AppError may be shown to a client, so it must hold no secret and no stack.
 */

/** The codes of all expected failures. `api/problem` assigns an HTTP status to each. */
export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'host_not_allowed'
  | 'origin_not_allowed'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'already_running'
  | 'body_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'invalid_input'
  | 'idempotency_mismatch'
  | 'settings_unreadable'
  | 'storage_full'
  | 'storage_failed'
  | 'unavailable'
  | 'cannot_listen'
  | 'invalid_option'
  | 'upstream_failed'
  | 'upstream_timeout'
  | 'address_refused'
  | 'agent_failed'
  | 'agent_timeout'
  | 'owned_by_another'
  | 'format_unsupported'
  | 'part_missing'
  | 'too_many_conversations'
  | 'too_many_runs'

/** A broken rule and the value that breaks it, in the form of FastAPI's `ValidationError`. */
export interface Issue {
  /** The path to the value, outermost name first. In a response it begins with `body`, `query`, `path` or `header`. */
  readonly loc: readonly (string | number)[]
  readonly msg: string
  /** The broken rule, for programs: `missing`, `string_type`, `extra_forbidden`, ... */
  readonly type: string
  /** The value that breaks the rule. The API redacts secrets in the value before a response shows it. */
  readonly input?: unknown
  readonly ctx?: Readonly<Record<string, string | number>>
}

export interface AppErrorOptions {
  readonly cause?: unknown
  /** For the code `invalid_input`: the rules that the input breaks. Absent if it is not known which rules. */
  readonly issues?: readonly Issue[]
  /** The time that a client should wait before it repeats its request. */
  readonly retryAfterSeconds?: number
  /** The limit that is reached, and how much of it is used. */
  readonly limit?: ReachedLimit
}

export interface ReachedLimit {
  readonly limit: number
  readonly used: number
}

export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly issues: readonly Issue[]
  readonly retryAfterSeconds: number | undefined
  readonly limit: ReachedLimit | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.issues = options.issues ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
    this.limit = options.limit
  }
}

/** Always throws. A call in the `default` of a `switch` compiles only if each member of the union has a case. */
export function assertNever(value: never): never {
  throw new TypeError(`Unexpected value: ${JSON.stringify(value)}`)
}

/** Returns the message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Returns a thrown Error unchanged. For any other value, returns a new Error with the value as its message. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** Returns a thrown value as an Error with masked message, stack and causes. Leaves out causes beyond `causeLimit`. */
export function maskedErrorOf(thrown: unknown, mask: (text: string) => string, causeLimit = 5): Error {
  const error = errorOf(thrown)
  const hasCause = error.cause !== undefined && causeLimit > 0
  const cause = hasCause ? { cause: maskedErrorOf(error.cause, mask, causeLimit - 1) } : undefined
  const masked = new Error(mask(error.message), cause)
  masked.stack = mask(error.stack ?? error.message)
  return masked
}

/** Returns undefined for an AppError `not_found`. @throws `thrown` if it is any other error */
export function undefinedIfMissing(thrown: unknown): undefined {
  if (!(thrown instanceof AppError) || thrown.code !== 'not_found') throw thrown
}

/** Returns the `code` of an error if it is a string, such as `ENOENT`; otherwise undefined. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined
  return typeof thrown.code === 'string' ? thrown.code : undefined
}
