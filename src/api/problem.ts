/**
 * Makes the HTTP response for a failed request, and maps each error code to a status (contract/others.md, section 0.2).
 *
 * An error that is no AppError is a bug of this server. Its message may contain a secret, so the response has an error
 * id instead, and the log has the error with this id.
 */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import { AppError, errorOf, type ErrorCode } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { ErrorForm, HttpResponse } from '../http/reply.ts'
import { redactIssue } from '../schema/redact.ts'

const statusOf = {
  bad_request: 400,
  unauthorized: 401,
  host_not_allowed: 403,
  origin_not_allowed: 403,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  already_running: 409,
  settings_unreadable: 409,
  body_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  invalid_input: 422,
  idempotency_mismatch: 422,
  too_many_conversations: 409,
  too_many_runs: 429,
  agent_failed: 502,
  part_missing: 501,
  unavailable: 503,
  agent_timeout: 504,
  storage_full: 507,
  storage_failed: 500,
  owned_by_another: 503,
  format_unsupported: 500,
  cannot_listen: 500,
  address_refused: 422,
  invalid_option: 500,
  upstream_failed: 502,
  upstream_timeout: 504,
} as const satisfies Record<ErrorCode, number>

/**
 * Returns the response to a failed request, in the form of `errorForm` if given. Logs each response with a status of
 * 500 or more. Of lower statuses, logs only refusals by a limit, at `debug`, because clients repeat such requests.
 */
export function problem(
  thrown: unknown, log: Log, requestId: string, errorForm?: ErrorForm,
): HttpResponse {
  const usual = usualProblem(thrown, log, requestId)
  const error = thrown instanceof AppError ? thrown : undefined
  const seconds = error?.retryAfterSeconds
  const headers = seconds === undefined ? [] : ['Retry-After', String(seconds)]
  if (errorForm === undefined) return { ...usual, headers }
  const { status, body } = errorForm(usual.status, wordsOf(thrown), error?.limit === undefined ? undefined : error.code)
  return { ...jsonResponse(status, body), headers }
}

/** Returns the first issue of an AppError as text, or its message if it has none; a fixed text for other errors. */
function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof AppError)) return 'Unexpected error'
  const [issue] = thrown.issues
  return issue === undefined ? thrown.message : `${issue.loc.join('.')}: ${issue.msg}`
}

function usualProblem(thrown: unknown, log: Log, requestId: string): HttpResponse {
  if (!(thrown instanceof AppError)) return unexpected(thrown, log, requestId)
  const status: number = statusOf[thrown.code]
  if (thrown.issues.length > 0) return jsonResponse(status, { detail: thrown.issues.map(redactIssue) })
  const limit = thrown.limit === undefined ? {} : { code: thrown.code, ...thrown.limit }
  const fields = { request_id: requestId, code: thrown.code }
  if (thrown.limit !== undefined) {
    log[status < 500 ? 'debug' : 'info']('A limit refused a request', { ...fields, reason: thrown.message })
  } else if (status >= 500) log.warn('A request failed', { ...fields, error: thrown })
  if (status < 500) return jsonResponse(status, { detail: thrown.message, ...limit })
  // Existing clients read the reason of a 5xx response from `exception`.
  const detail = STATUS_CODES[status] ?? 'Error'
  const exception = `${status}: ${thrown.message}`
  return jsonResponse(status, { detail: status === 500 ? 'Internal Server Error' : detail, exception, ...limit })
}

export function jsonResponse(status: number, value: unknown): HttpResponse {
  return { status, body: Buffer.from(JSON.stringify(value)) }
}

function unexpected(thrown: unknown, log: Log, requestId: string): HttpResponse {
  const errorId = randomUUID().replaceAll('-', '')
  log.error('A request failed unexpectedly', { error_id: errorId, request_id: requestId, error: errorOf(thrown) })
  return jsonResponse(500, { detail: 'Internal Server Error', exception: 'Unexpected error', error_id: errorId })
}
