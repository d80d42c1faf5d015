/**
 * RFC 6455 section by section: every row of the tables in `rfc6455/`, sent whole and byte by byte.
 *
 * The last test holds the tables to the list of all sections: one without a row needs a reason.
 */
import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net'
import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { Compression } from '../../src/ws/compression.ts'
import { acceptUpgrade } from '../../src/ws/upgrade.ts'
import { suite } from '../support/suite.ts'
import { connect } from '../support/ws-client.ts'
import { portOf } from '../support/ws-pair.ts'
import { exchange } from '../support/ws-wire.ts'
import { clientRows, type ClientRow } from './rfc6455/client.ts'
import { closing } from './rfc6455/closing.ts'
import { differently, sections, withoutRow } from './rfc6455/elsewhere.ts'
import { framing } from './rfc6455/framing.ts'
import { goodLines, handshakes, type HandshakeRow } from './rfc6455/handshake.ts'
import type { Row } from './rfc6455/row.ts'

const test = suite('ws/rfc6455')

/** One test for each section, because a row is only a few bytes. */
function run(rows: readonly Row[]): void {
  for (const section of new Set(rows.map((row) => row.section))) {
    const ofSection = rows.filter((row) => row.section === section)
    test(`section ${section}: ${ofSection.length} rows`, async () => {
      for (const row of ofSection) {
        await check(row, undefined)
        await check(row, row.isLong === true ? 65_536 : 1)
      }
    })
  }
}

async function check(row: Row, pieceBytes: number | undefined): Promise<void> {
  const { section, says, sends, gets = [], hears = [], closed, ...options } = row
  const name = `${section}: ${says}, ${pieceBytes === undefined ? 'whole' : `in pieces of ${pieceBytes}`}`
  const found = await exchange(sends, { ...options, ...(pieceBytes === undefined ? {} : { pieceBytes }) })
  assert.equal(found.frames, gets, name)
  assert.equal(found.messages, hears, name)
  if (typeof closed === 'object') assert.match(found.closed ?? 'open', closed, name)
  else assert.is(found.closed, closed, name)
}

run(framing)
run(closing)

/** Runs `body` with a server over TCP that does only the things that the row says. */
async function withHttpServer(body: (port: number) => Promise<void>): Promise<void> {
  const deflating = new Compression()
  const server: HttpServer = createHttpServer((_, response) => response.writeHead(404).end())
  server.on('upgrade', (request, socket, head) => {
    const compression = request.headers['x-deflate'] === undefined ? undefined : deflating
    const upgrade = acceptUpgrade(request, socket, head, { compression })
    if (upgrade.ok) upgrade.connection.terminate()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await body(portOf(server.address()))
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** Everything that comes until the server ends the connection. */
async function answerTo(
  port: number, { requestLine = 'GET /chat HTTP/1.1', lines = {}, deflate = false }: HandshakeRow,
): Promise<string> {
  const all: Record<string, string | readonly string[] | undefined> = {
    ...goodLines, ...lines, ...(deflate ? { 'X-Deflate': '1' } : {}),
  }
  const head = Object.entries(all).flatMap(([name, value]) => {
    return [value ?? []].flat().map((each) => `${name}: ${each}\r\n`)
  })
  const socket = connectTcp(port, '127.0.0.1')
  socket.end(`${requestLine}\r\n${head.join('')}\r\n`)
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return answer
}

test(`sections 1.3, 4.2, 4.4 and 9.1: ${handshakes.length} requests over TCP`, () =>
  withHttpServer(async (port) => {
    for (const row of handshakes) {
      const name = `${row.section}: ${row.says}`
      const [head = ''] = (await answerTo(port, row)).split('\r\n\r\n')
      const [statusLine = '', ...headers] = head.split('\r\n')
      assert.is(statusLine.split(' ')[1], String(row.status), name)
      for (const [wanted, value] of Object.entries(row.answers ?? {})) {
        const found = headers.filter((line) => line.toLowerCase().startsWith(`${wanted}:`)).map((line) => {
          return line.slice(wanted.length + 1).trim()
        })
        assert.equal(found, value === undefined ? [] : [value], name)
      }
    }
  }))

/**
 * Returns the messages that the client of the tests gets and how it ends, when a server over TCP does as the row says.
 */
async function clientOutcome(
  { answer = {}, status = 101, sends = Buffer.alloc(0) }: ClientRow,
): Promise<{ hears: string[]; ends: string }> {
  const server = createTcpServer((socket: Socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (request) => {
      const key = /sec-websocket-key: (.*)\r/i.exec(String(request))?.[1] ?? ''
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      const headers = { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Accept': accept, ...answer }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`HTTP/1.1 ${status} Whatever\r\n${status === 101 ? lines.join('') : 'Content-Length: 0\r\n'}\r\n`)
      socket.end(sends)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const client = await connect(`ws://127.0.0.1:${portOf(server.address())}/`)
    const ends = await client.closed.then(({ code }) => String(code), String)
    return { hears: client.messages, ends }
  } catch (thrown) {
    return { hears: [], ends: String(thrown) }
  } finally {
    server.close()
  }
}

test(`the client of the tests: ${clientRows.length} rows over TCP`, async () => {
  for (const row of clientRows) {
    const name = `${row.section}: ${row.says}`
    const { hears, ends } = await clientOutcome(row)
    assert.equal(hears, row.hears ?? [], name)
    if (typeof row.ends === 'object') assert.match(ends, row.ends, name)
    else assert.is(ends, row.ends, name)
  }
})

test('every section has a row, or a reason why it has none', () => {
  const withRow = new Set([...framing, ...closing, ...handshakes, ...clientRows].map((row) => row.section))
  for (const section of sections) assert.is(withRow.has(section), withoutRow[section] === undefined, section)
  const known = new Set(sections)
  for (const section of [...withRow, ...Object.keys(withoutRow), ...Object.keys(differently)]) {
    assert.ok(known.has(section), section)
  }
})

test.run()
