/**
 * Splits the target of a request line into path and query (RFC 9112, section 3.2).
 *
 * The path stays percent-encoded. A target that two programs could read differently is refused: dot segments, a
 * fragment, or characters that are not visible ASCII.
 */
import { AppError } from '../base/errors.ts'

export interface Target {
  /** The host and port of a target in absolute form; undefined for any other target. */
  readonly authority: string | undefined
  /** The path, percent-encoded. It begins with `/`, or is `*` as in `OPTIONS *`. */
  readonly path: string
  /** The text after the first `?`; empty if the target has no `?`. */
  readonly query: string
}

/** Returns a path without the prefix `basePath` (`/agents/api` below `/agents`: `/api`); undefined for other paths. */
export function pathBelow(path: string, basePath: string): string | undefined {
  if (basePath === '' || path === '*') return path
  if (path === basePath) return '/'
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
}

/**
 * Splits a request target.
 * @throws AppError `uri_too_long` above `limitBytes`, `bad_request` when the target is not acceptable.
 */
export function parseTarget(text: string, limitBytes: number): Target {
  if (text.length > limitBytes) {
    throw new AppError('uri_too_long', `Could not read the request target: expected at most ${limitBytes} bytes`)
  }
  if (!/^[\x21-\x7e]+$/.test(text) || text.includes('#')) throw unacceptable('expected visible ASCII, no fragment')
  if (text.startsWith('/') || text === '*') return split(undefined, text)
  // absolute-form = scheme "://" authority path-abempty [ "?" query ]
  const match = /^https?:\/\/([^/?]+)(.*)$/i.exec(text)
  if (match === null) throw unacceptable('expected a path that begins with "/"')
  const [, authority, rest = ''] = match
  return split(authority, rest.startsWith('/') ? rest : `/${rest}`)
}

function split(authority: string | undefined, text: string): Target {
  const mark = text.indexOf('?')
  const path = mark === -1 ? text : text.slice(0, mark)
  if (hasDotSegment(path)) throw unacceptable('expected a path without "." and ".." segments')
  return { authority, path, query: mark === -1 ? '' : text.slice(mark + 1) }
}

/** True when a whole segment is `.` or `..`, also with percent-encoded dots. */
function hasDotSegment(path: string): boolean {
  // Skips the regular expression for most paths.
  if (!path.includes('/.') && !path.includes('%2')) return false
  return /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)
}

/** Returns the error for a refused target. It does not quote the target, because the query may hold a key. */
function unacceptable(expected: string): AppError {
  return new AppError('bad_request', `Could not read the request target: ${expected}`)
}
