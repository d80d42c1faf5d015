/**
 * Reads a `multipart/form-data` body part by part (RFC 7578; syntax: RFC 2046, section 5.1.1).
 *
 * The reader refuses a body in which another program could see other parts, for example a body with a preamble.
 */
import { isUtf8 } from 'node:buffer'
import { AppError } from '../../base/errors.ts'

export interface MultipartLimits {
  readonly partLimit: number
  /** The most bytes in the headers of one part. */
  readonly headerLimitBytes: number
}

export interface FormPart {
  /** The name of the form's field. */
  readonly name: string
  /** The content in pieces. Requesting the next part skips the content that is left. */
  readonly content: AsyncGenerator<Buffer, void>
}

const defaultLimits: MultipartLimits = { partLimit: 64, headerLimitBytes: 8 * 1024 }

/** The form of a boundary (RFC 2046, section 5.1.1). */
const boundaryForm = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/

/** A token of RFC 9110, section 5.6.2. */
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/** Matches `name=token` or `name="quoted string"`, with `;` in front. */
const parameterForm = new RegExp(`[ \\t]*;[ \\t]*(${token})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y')
/** Matches `name: value`. */
const headerForm = new RegExp(`^(${token}):([^\\0-\\x08\\x0a-\\x1f\\x7f]*)$`)

/** Returns the boundary in a content type. @throws AppError `unsupported_media_type`, `bad_request` */
export function boundaryOf(contentType: string | undefined): string {
  const [type = ''] = (contentType ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'multipart/form-data') {
    const given = `content type "${type.trim().slice(0, 128)}"`
    throw new AppError('unsupported_media_type', `Could not read the body: ${given}, expected multipart/form-data`)
  }
  const boundary = parametersOf((contentType ?? '').slice(type.length))?.get('boundary')
  if (boundary === undefined || !boundaryForm.test(boundary)) throw malformed('the content type has no valid boundary')
  return boundary
}

/**
 * Yields the parts of a body, in order.
 * @throws AppError `bad_request` for a malformed body, `body_too_large` above the limits; the errors of `source`
 */
export async function* readParts(
  source: AsyncIterable<Buffer>,
  boundary: string,
  limits: MultipartLimits = defaultLimits,
): AsyncGenerator<FormPart, void> {
  const body = new Body(source, Buffer.from(`\r\n--${boundary}`))
  if (!(await body.takeLine(body.delimiter.subarray(2)))) throw malformed('it does not begin with its boundary')
  for (let count = 0; await body.goesOn(); count++) {
    if (count === limits.partLimit) throw tooLarge(`${limits.partLimit} parts`)
    const name = nameOf(await body.takeHeaders(limits.headerLimitBytes))
    yield { name, content: body.takeContent() }
    // The content that the caller did not read is dropped.
    for await (const _ of body.takeContent()) { /* dropped */ }
  }
}

/** A `multipart/form-data` body, read step by step. */
class Body {
  readonly delimiter: Buffer
  readonly #source: AsyncIterator<Buffer>
  #held: Buffer = Buffer.alloc(0)
  #isInPart = false

  constructor(source: AsyncIterable<Buffer>, delimiter: Buffer) {
    this.#source = source[Symbol.asyncIterator]()
    this.delimiter = delimiter
  }

  /** If the body continues with `bytes`, skips them and returns true. Otherwise skips nothing and returns false. */
  async takeLine(bytes: Buffer): Promise<boolean> {
    while (this.#held.length < bytes.length && (await this.#fill())) { /* more */ }
    const isNext = this.#held.subarray(0, bytes.length).equals(bytes)
    if (isNext) this.#held = this.#held.subarray(bytes.length)
    return isNext
  }

  /** Reads the bytes after a delimiter. Returns true before a part, false at the end of the body. */
  async goesOn(): Promise<boolean> {
    if (await this.takeLine(lineEnd)) return true
    if (!(await this.takeLine(closing))) throw malformed('a boundary is followed by other bytes')
    await this.takeLine(lineEnd)
    if (this.#held.length > 0 || (await this.#fill())) throw malformed('bytes follow its end')
    return false
  }

  /** Reads and returns the headers of a part. Skips the empty line after them. */
  async takeHeaders(limitBytes: number): Promise<Buffer> {
    let end = this.#held.indexOf(headersEnd)
    while (end === -1) {
      const { length } = this.#held
      // The last three bytes do not count: they may be the beginning of `headersEnd`.
      if (length - headersEnd.length + 1 > limitBytes) throw longHeaders(limitBytes)
      if (!(await this.#fill())) throw malformed('it ends in the headers of a part')
      end = this.#held.indexOf(headersEnd, Math.max(0, length - headersEnd.length + 1))
    }
    if (end > limitBytes) throw longHeaders(limitBytes)
    const headers = this.#held.subarray(0, end)
    this.#held = this.#held.subarray(end + headersEnd.length)
    this.#isInPart = true
    return headers
  }

  /** Yields the rest of the current part's content, and skips the delimiter after it. */
  async *takeContent(): AsyncGenerator<Buffer, void> {
    const { delimiter } = this
    while (this.#isInPart) {
      const end = this.#held.indexOf(delimiter)
      // If `#held` has no delimiter, the last bytes of `#held` may be the beginning of a delimiter.
      const safe = end === -1 ? Math.max(0, this.#held.length - delimiter.length + 1) : end
      const piece = this.#held.subarray(0, safe)
      this.#held = this.#held.subarray(end === -1 ? safe : end + delimiter.length)
      this.#isInPart = end === -1
      if (piece.length > 0) yield piece
      if (this.#isInPart && !(await this.#fill())) throw malformed('it ends in a part')
    }
  }

  /** Appends the next piece of the source to `#held`. Returns false at the end of the source. */
  async #fill(): Promise<boolean> {
    const next = await this.#source.next()
    if (next.done === true) return false
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value])
    return true
  }
}

const lineEnd = Buffer.from('\r\n')
const headersEnd = Buffer.from('\r\n\r\n')
const closing = Buffer.from('--')

/** Returns the field name in the headers of a part. @throws AppError `bad_request` for headers that cannot be used */
function nameOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('the headers of a part are not UTF-8')
  const headers = new Map<string, string>()
  for (const line of bytes.toString('utf8').split('\r\n')) {
    const [, name = '', value = ''] = headerForm.exec(line) ?? []
    if (name === '') throw malformed('a header of a part is malformed')
    if (headers.has(name.toLowerCase())) throw malformed(`a part has the header "${name.slice(0, 64)}" twice`)
    headers.set(name.toLowerCase(), value)
  }
  const encoding = headers.get('content-transfer-encoding')?.trim().toLowerCase() ?? 'binary'
  if (!['7bit', '8bit', 'binary'].includes(encoding)) throw malformed('a part has a transfer encoding')
  const disposition = headers.get('content-disposition') ?? ''
  const [kind = ''] = disposition.split(';', 1)
  const isField = kind.trim().toLowerCase() === 'form-data'
  const name = isField ? parametersOf(disposition.slice(kind.length))?.get('name') : undefined
  if (name === undefined) throw malformed('a part has no name')
  return name
}

/** Reads a text of repeated `;name=value`. Returns undefined for any other text, and for a repeated name. */
function parametersOf(text: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>()
  const trimmed = text.trimEnd()
  for (parameterForm.lastIndex = 0; parameterForm.lastIndex < trimmed.length;) {
    const [, name, quoted, plain = ''] = parameterForm.exec(trimmed) ?? []
    if (name === undefined || parameters.has(name.toLowerCase())) return undefined
    parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? plain)
  }
  return parameters
}

function malformed(reason: string): AppError {
  return new AppError('bad_request', `Could not read the form: ${reason}`)
}

function tooLarge(most: string): AppError {
  return new AppError('body_too_large', `Could not read the form: it has more than ${most}`)
}

function longHeaders(limitBytes: number): AppError {
  return tooLarge(`${limitBytes} bytes in the headers of a part`)
}
