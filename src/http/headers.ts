/**
 * Reads request headers from `rawHeaders`. `request.headers` joins or drops repeated headers, so it must not decide
 * about access.
 */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../base/errors.ts'

const none: readonly string[] = []

/** Returns every value of a header, in order. `name` is in lower case; `rawHeaders` has names and values in turn. */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  let values: string[] | undefined
  // A letter in lower case and the same letter in upper case differ only in the bit 0x20.
  const first = name.charCodeAt(0) | 0x20
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index]
    if (candidate?.length !== name.length || (candidate.charCodeAt(0) | 0x20) !== first) continue
    const value = rawHeaders[index + 1]
    if (candidate.toLowerCase() !== name || value === undefined) continue
    // An empty array would get room for 17 values at the first `push`.
    if (values === undefined) values = [value]
    else values.push(value)
  }
  return values ?? none
}

/**
 * Returns the value of a header; undefined when the header was not sent. `name` is in lower case.
 * @throws AppError `bad_request` when the header was sent more than once
 */
export function singleHeader(rawHeaders: readonly string[], name: string): string | undefined {
  const [value, second] = headerValues(rawHeaders, name)
  if (second !== undefined) {
    throw new AppError('bad_request', `Could not read the request: expected one header "${name}"`)
  }
  return value
}

/** True when the headers announce a body (RFC 9112, section 6.3). A chunked body may still be empty. */
export function announcesBody(request: IncomingMessage): boolean {
  // Saves Node the work of building `request.headers`. One value is enough: Node refuses a second Content-Length.
  const [length] = headerValues(request.rawHeaders, 'content-length')
  if (length !== undefined && Number(length) !== 0) return true
  return headerValues(request.rawHeaders, 'transfer-encoding').length > 0
}

/** True for a token of RFC 9110, section 5.6.2, such as a header name. */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)
}
