/**
 * Calls the REST interface of a server, with nothing but fetch.
 *
 * Every call has a time limit. An answer that is no success is an error with the text of the answer.
 */

export interface Server {
  readonly url: string
  readonly key: string
}

/** The time limit of every call and every wait of these runs. */
export const patienceMs = 120_000

export async function callServer(server: Server, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'X-Session-API-Key': server.key, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(patienceMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}
