/** Uploads of tests: the body of a form as undici writes it, and a request whose body is sent while it is made. */
import { once } from 'node:events'
import { request } from 'node:http'
import type { Reachable, TestServer } from '../../support/server.ts'
import type { RestResponse } from '../../support/rest.ts'

export const formType = { 'Content-Type': 'multipart/form-data; boundary=b' }

export function formOf(content: string | Buffer, name = 'file'): Buffer {
  const head = `--b\r\nContent-Disposition: form-data; name="${name}"; filename="x"\r\nContent-Type: text/plain\r\n\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from('\r\n--b--\r\n')])
}

export function upload(server: TestServer, path: string, raw: string | Buffer): Promise<RestResponse> {
  const length = { 'Content-Length': Buffer.byteLength(raw) }
  return server.rest.send('POST', `/api/file/upload?path=${encodeURIComponent(path)}`, {
    raw, headers: { ...formType, ...length },
  })
}

/** Sends a body in pieces, chunked, and with regard to back-pressure; gives the status. */
export async function uploadPieces(server: Reachable, path: string, pieces: Iterable<Buffer>): Promise<number> {
  const sent = request(`${server.url}/api/file/upload?path=${encodeURIComponent(path)}`, {
    method: 'POST', agent: false, headers: { ...formType, 'X-Session-API-Key': server.key },
  })
  const answered = once(sent, 'response')
  for (const piece of pieces) if (!sent.write(piece)) await once(sent, 'drain')
  sent.end()
  const [response] = await answered
  response.resume()
  return response.statusCode
}
