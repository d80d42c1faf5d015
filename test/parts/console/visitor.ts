/** A browser that has signed in, as far as its requests show: the cookies and the proof, at one Host. */
import type { OutgoingHttpHeaders } from 'node:http'
import { rest, textAt, type Rest, type RestResponse } from '../../support/rest.ts'
import type { TestServer } from '../../support/server.ts'

export interface Visitor {
  readonly cookie: string
  readonly proof: string
  /** The headers with which the page sends its requests. */
  readonly headers: OutgoingHttpHeaders
  readonly signedIn: RestResponse
}

/** A client of the server without a key. */
export function stranger(server: TestServer): Rest {
  return rest(server.url, undefined)
}

/** Returns the code of a new address of the console. */
export async function newCode(server: TestServer): Promise<string> {
  const address = await server.server.consoleAddress(server.url)
  return /#code=(.+)$/.exec(address ?? '')?.[1] ?? ''
}

/** Signs in with a new code, as the page at the server's own address does. */
export async function visit(server: TestServer): Promise<Visitor> {
  const headers = { Origin: server.url, 'Sec-Fetch-Site': 'same-origin' }
  const body = { code: await newCode(server) }
  const signedIn = await stranger(server).send('POST', '/api/console/sign-in', { body, headers })
  const cookie = cookiesOf(signedIn)[0]?.split(';')[0] ?? ''
  const proof = textAt(signedIn.json, 'proof')
  return { cookie, proof, signedIn, headers: { ...headers, Cookie: cookie, 'X-Console-Proof': proof } }
}

export function cookiesOf({ headers }: RestResponse): readonly string[] {
  return headers['set-cookie'] ?? []
}
