/**
 * Uploads and downloads files as streams (contract/others.md, section 2).
 *
 * An upload replaces its target after the whole form was read. So a failed request changes no file.
 */
import { AppError } from '../../base/errors.ts'
import type { Core } from '../../capabilities.ts'
import { invalid, queryOf, success, type Call } from '../../api/call.ts'
import { readPieces } from '../../http/body.ts'
import { singleHeader } from '../../http/headers.ts'
import { attachment } from '../../http/pieces.ts'
import { boundaryOf, readParts, type FormPart } from './multipart.ts'
import { required, text } from '../../http/query.ts'
import { makerOf } from '../../http/principal.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { openFile, writeFile } from '../workspace-files/files.ts'
import { basename } from 'node:path'
import type { Machine } from '../workspace-files/machine.ts'
import { sendFile } from './sending.ts'

export interface TransferParts {
  readonly admission: Core['admission']
  readonly machine: Machine
  /** The most bytes in the body of an upload. */
  readonly uploadLimitBytes: number
  /** The longest time, in milliseconds, without a byte from the client (upload) or to the client (download). */
  readonly stallTimeoutMs: number
}

export const pathQuery = { path: required(text({ maxLength: 4096 })) }

export async function upload(parts: TransferParts, call: Call): Promise<HttpResponse> {
  const { admission, machine, uploadLimitBytes, stallTimeoutMs } = parts
  const { path } = queryOf(call, pathQuery)
  const { request } = call.exchange
  admission.rules?.assertSpace(makerOf(call.principal))
  await machine.at(path, async (place) => {
    const boundary = boundaryOf(singleHeader(request.rawHeaders, 'content-type'))
    const pieces = readPieces(request, { limitBytes: uploadLimitBytes, stallTimeoutMs })
    await writeFile(place, fileOf(readParts(pieces, boundary)))
  }, { makeParents: true })
  return success
}

export async function download({ machine, stallTimeoutMs }: TransferParts, call: Call): Promise<HttpResponse> {
  const { path } = queryOf(call, pathQuery)
  const file = await machine.at(path, openFile)
  return sendFile(call, file, {
    type: 'application/octet-stream', headers: attachment(basename(path)), stallTimeoutMs,
  })
}

/**
 * Yields the content of the form field `file`, then reads the rest of the form.
 * @throws AppError `bad_request` for a second field `file`, `invalid_input` without the field; the errors of `parts`
 */
async function* fileOf(parts: AsyncIterable<FormPart>): AsyncGenerator<Buffer, void> {
  let isThere = false
  for await (const { name, content } of parts) {
    if (name !== 'file') continue
    if (isThere) throw new AppError('bad_request', 'Could not read the form: it has the field "file" twice')
    isThere = true
    yield* content
  }
  if (!isThere) throw invalid([{ type: 'missing', loc: ['body', 'file'], msg: 'Field required', input: null }])
}
