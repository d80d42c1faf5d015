/**
 * The client of every row that users notice, for each side the same: requests over one connection that stays open.
 */
import { Agent, request } from 'node:http'

export interface HttpClient {
  /** Resolves with the body when all of it has come. Rejects unless the answer is a success. */
  call(method: string, path: string, body?: object): Promise<string>
  close(): void
}

export function httpClient(port: number, key: string): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  return {
    call(method, path, body) {
      const text = body === undefined ? '' : JSON.stringify(body)
      const ofBody = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
      const headers = { 'x-session-api-key': key, ...(body === undefined ? {} : ofBody) }
      return new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject).once('end', () => {
            const answer = Buffer.concat(chunks).toString()
            const { statusCode = 0 } = response
            if (statusCode >= 200 && statusCode < 300) resolve(answer)
            else reject(new Error(`${method} ${path} gave ${statusCode}: ${answer.slice(0, 500)}`))
          })
        }).once('error', reject).end(text)
      })
    },
    close: () => agent.destroy(),
  }
}
