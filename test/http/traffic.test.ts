/**
 * The reports of responses to observers: exact bytes, also of pipelined ones, and the end of responses that are cut.
 */
import * as assert from 'uvu/assert'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { Traffic, type ObservedResponse } from '../../src/http/traffic.ts'
import { until } from '../support/processes.ts'
import { suite } from '../support/suite.ts'

const test = suite('http/traffic')

/** Serves with a handler that returns the status, sends these bytes, and returns the response and the reports. */
async function exchange(
  handle: (request: IncomingMessage, response: ServerResponse) => number | Promise<number>,
  bytes: string, isDone: (read: string) => boolean,
): Promise<{ readonly read: string, readonly told: readonly ObservedResponse[] }> {
  const traffic = new Traffic()
  const told: ObservedResponse[] = []
  const nothing = (): void => undefined
  traffic.observe({ answered: (response) => void told.push(response), opened: nothing, closed: nothing })
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    const begun = performance.now()
    const observed = () => ({
      method: request.method, route: request.url, requestId: undefined, address: undefined, keyName: undefined,
    })
    const answered = (status: number): void => {
      traffic.answered(observed, response, status, performance.now() - begun)
    }
    const status = handle(request, response)
    if (typeof status === 'number') answered(status)
    else void status.then(answered)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address: AddressInfo | string | null = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  let read = ''
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk: Buffer) => {
      read += chunk.toString()
      if (isDone(read)) socket.destroy()
    })
    socket.on('close', () => resolve())
  })
  await until(async () => told.length === asked)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  return { read, told }
}

const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

test('each of several pipelined responses has its own bytes, head included', async () => {
  const paths = ['/1', '/20', '/300', '/4', '/5000']
  const { read, told } = await exchange((request, response) => {
    response.writeHead(200, ['Content-Length', request.url?.slice(1) ?? '0', 'X-Path', request.url ?? ''])
    response.end('x'.repeat(Number(request.url?.slice(1))))
    return 200
  }, paths.map(ask).join(''), (text) => text.endsWith('x'.repeat(5000)))
  assert.equal(told.map(({ route }) => route), paths)
  const parts = read.split(/(?=HTTP\/1\.1)/)
  assert.equal(told.map(({ bytes }) => bytes), parts.map(({ length }) => length))
  assert.ok(told.every(({ isCut, status }) => !isCut && status === 200))
})

test('a response whose client has gone is cut, whether it had begun or not', async () => {
  const begun = await exchange((_, response) => {
    response.writeHead(200)
    response.write('a piece')
    return 200
  }, ask('/'), (text) => text.includes('piece'))
  assert.equal(begun.told.map(({ isCut, status }) => [isCut, status]), [[true, 200]])
  const late = await exchange(async (request, response) => {
    request.socket.destroy()
    await new Promise((resolve) => response.once('close', resolve))
    response.writeHead(204).end()
    return 204
  }, ask('/'), () => false)
  assert.equal(late.told.map(({ isCut, status }) => [isCut, status]), [[true, 204]])
})

test('without an observer nothing is told, and an observer that has left is told no more', async () => {
  const traffic = new Traffic()
  const asked: string[] = []
  const leave = traffic.observe({ answered: () => void asked.push('told'), opened: () => 0, closed: () => 0 })
  leave()
  const server = createServer((_, response) => {
    response.end()
    traffic.answered(() => { throw new Error('Nobody observes') }, response, 200, 0)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await fetch(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  assert.equal(asked, [])
})

test.run()
