/**
 * Files up and down over real sockets: the bytes that arrive, the requests that are refused, and that a refused upload
 * leaves nothing.
 */
import {
  chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { deferred } from '../../../src/base/wait.ts'
import { send } from '../../../src/http/reply.ts'
import { sendPieces } from '../../../src/http/pieces.ts'
import { serving } from '../../http/serve.ts'
import { withServer } from '../../support/server.ts'
import { member } from '../../support/rest.ts'
import { suite } from '../../support/suite.ts'
import { formOf, formType, upload, uploadPieces } from './form.ts'

const test = suite('parts/files transfer')
const download = (path: string): string => `/api/file/download?path=${encodeURIComponent(path)}`

test('stores a file in folders that it makes, and replaces one', () => withServer(async (server) => {
  const path = join(server.folder, 'a', 'bé "c"', 'file.bin')
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256))
  const { status, json } = await upload(server, path, formOf(bytes))
  assert.equal([status, json], [200, { success: true }])
  assert.ok(readFileSync(path).equals(bytes))
  chmodSync(path, 0o640)
  assert.is((await upload(server, path, formOf('short'))).status, 200)
  assert.is(readFileSync(path, 'utf8'), 'short')
  assert.is(statSync(path).mode & 0o777, 0o640)
}))

test('skips other fields, which the Python client sends in front', () => withServer(async (server) => {
  const path = join(server.folder, 'file')
  const other = formOf('/somewhere', 'destination_path').toString().replace('\r\n--b--\r\n', '\r\n')
  assert.is((await upload(server, path, other + formOf('content').toString())).status, 200)
  assert.is(readFileSync(path, 'utf8'), 'content')
}))

test('gives a file with its length and name, whatever it is', () => withServer(async (server) => {
  const path = join(server.folder, 'é"x.json')
  writeFileSync(path, '{"a": 1}')
  const { status, headers, text } = await server.rest.get(download(path))
  assert.equal([status, text, headers['content-type'], headers['content-length']], [
    200, '{"a": 1}', 'application/octet-stream', '8',
  ])
  assert.is(headers['content-disposition'], `attachment; filename="__x.json"; filename*=UTF-8''%C3%A9%22x.json`)
  const head = await server.rest.send('HEAD', download(path))
  assert.equal([head.status, head.text, head.headers['content-length']], [200, '', '8'])
  writeFileSync(path, '')
  const empty = await server.rest.get(download(path))
  assert.equal([empty.status, empty.text, empty.headers['content-length']], [200, '', '0'])
}))

test('refuses paths that cannot be used, with the status of each', () => withServer(async (server) => {
  const { folder, dataDir } = server
  mkdirSync(join(folder, 'd'))
  writeFileSync(join(folder, 'f'), 'x')
  linkSync(join(folder, 'f'), join(folder, 'second-name'))
  symlinkSync(dataDir, join(folder, 'to-data'))
  symlinkSync('/proc/self/environ', join(folder, 'to-environment'))
  for (const [path, status] of [
    ['relative', 400], ['', 400], [join(folder, 'd'), 400], [join(folder, 'none'), 404], [join(folder, 'f', 'x'), 400],
    ['/dev/zero', 400], [`${folder}/\0`, 400], [`/${'a/'.repeat(2040)}x`, 404], [`/${'a'.repeat(5000)}`, 422],
    [join(dataDir, 'settings.json'), 403], [join(dataDir, 'keys', 'sealing.key'), 403],
    [join(folder, 'to-data', 'settings.json'), 403],
    ['/proc/self/environ', 403], [join(folder, 'to-environment'), 403], ['/proc/1/environ', 403],
    [`/proc/${process.pid}/mem`, 403],
  ] as const) assert.is((await server.rest.get(download(path))).status, status, path)
  for (const [path, status] of [
    ['relative', 400], [join(folder, 'd'), 400], [join(folder, 'f', 'x'), 400], [join(folder, 'second-name'), 400],
    [join(dataDir, 'settings.json'), 403], [join(folder, 'to-data', 'x'), 403], ['/proc/sys/kernel/core_pattern', 403],
    ['/sys/x', 403],
  ] as const) assert.is((await upload(server, path, formOf('y'))).status, status, path)
  assert.is(readFileSync(join(folder, 'f'), 'utf8'), 'x')
  assert.is((await server.rest.get('/api/file/download')).status, 422)
}))

test('leaves nothing of a refused form, and changes no file', () => withServer(async (server) => {
  const path = join(server.folder, 'kept')
  writeFileSync(path, 'before')
  const cut = formOf('after').subarray(0, -4)
  const twice = Buffer.concat([formOf('one').subarray(0, -6), Buffer.from('\r\n'), formOf('two')])
  for (const [raw, status] of [
    ['', 400], ['nonsense', 400], [cut, 400], [twice, 400], [Buffer.concat([formOf('x'), Buffer.from('y')]), 400],
    [formOf('x', 'other'), 422], ['--b--', 422],
  ] as const) {
    assert.is((await upload(server, path, raw)).status, status, String(raw))
    assert.is((await upload(server, join(server.folder, 'new', 'deep', 'file'), raw)).status, status)
  }
  const json = await server.rest.send(
    'POST', `/api/file/upload?path=${encodeURIComponent(join(server.folder, 'n', 'f'))}`, { body: {} },
  )
  assert.is(json.status, 415)
  assert.is(readFileSync(path, 'utf8'), 'before')
  assert.equal(readdirSync(server.folder).sort(), ['data', 'kept'])
  const missing = await upload(server, path, formOf('x', 'other'))
  assert.equal(member(missing.json, 'detail', 0, 'loc'), ['body', 'file'])
}))

test('leaves nothing of an upload whose client goes away', () => withServer(async (server) => {
  const { hostname, port } = new URL(server.url)
  const path = encodeURIComponent(join(server.folder, 'new', 'file'))
  const head = `POST /api/file/upload?path=${path} HTTP/1.1\r\nHost: ${hostname}\r\n` +
    `X-Session-API-Key: ${server.key}\r\n`
  const socket = connect(Number(port), hostname)
  socket.write(`${head}Content-Type: ${formType['Content-Type']}\r\nContent-Length: 100000\r\n\r\n`)
  socket.write(formOf('x'.repeat(50_000)).subarray(0, 40_000))
  while (!readdirSync(server.folder).includes('new')) await new Promise(setImmediate)
  socket.destroy()
  while (readdirSync(server.folder).includes('new')) await new Promise(setImmediate)
}))

test('answers an upload that is too long with 413 and leaves nothing', () => withServer(async (server) => {
  const path = join(server.folder, 'new', 'file')
  assert.is((await upload(server, path, formOf('x'.repeat(200_000)))).status, 413)
  const pieces = [formOf('').subarray(0, -9), ...Array.from({ length: 20 }, () => Buffer.alloc(10_000, 'x'))]
  assert.is(await uploadPieces(server, path, pieces), 413)
  assert.is(readdirSync(server.folder).includes('new'), false)
}, { uploadLimitBytes: 100_000 }))

test('answers an upload that stands still with 408 and leaves nothing', () => withServer(async (server) => {
  const { hostname, port } = new URL(server.url)
  const path = encodeURIComponent(join(server.folder, 'new', 'file'))
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /api/file/upload?path=${path} HTTP/1.1\r\nHost: ${hostname}\r\nX-Session-API-Key: ${server.key}\r\n`,
  )
  socket.write(`Content-Type: ${formType['Content-Type']}\r\nContent-Length: 1000\r\n\r\n--b\r\n`)
  const [first] = await new Promise<Buffer[]>((resolve) => {
    return socket.once('data', (...chunks: Buffer[]) => resolve(chunks))
  })
  assert.match(String(first), /^HTTP\/1.1 408 /)
  assert.is(readdirSync(server.folder).includes('new'), false)
  socket.destroy()
}, { readerStallMs: 100 }))

/** Kernels buffer some megabytes for a connection. */
const mostInFlight = 32 * 1024 * 1024

test('takes no more of an upload than it has written, but for what is on its way', () => withServer(async (server) => {
  const folder = join(server.folder, 'u')
  const piece = Buffer.alloc(1024 * 1024, 'x')
  const count = 256
  let most = 0
  function* pieces(): Generator<Buffer> {
    yield formOf('').subarray(0, -9)
    for (let index = 0; index < count; index++) {
      const [name] = existsSync(folder) ? readdirSync(folder) : []
      most = Math.max(most, index * piece.length - (name === undefined ? 0 : statSync(join(folder, name)).size))
      yield piece
    }
    yield Buffer.from('\r\n--b--\r\n')
  }
  assert.is(await uploadPieces(server, join(folder, 'large'), pieces()), 200)
  assert.is(statSync(join(folder, 'large')).size, count * piece.length)
  assert.ok(most < mostInFlight, `${most} bytes`)
}))

test('makes no more of an answer than its client takes, and disconnects one that takes nothing', async () => {
  let given = 0
  const ended = deferred<void>()
  async function* endless(): AsyncGenerator<Buffer, void> {
    try {
      for (;;) {
        given += 64 * 1024
        yield Buffer.alloc(64 * 1024)
      }
    } finally {
      ended.resolve()
    }
  }
  const answer = sendPieces(endless(), { type: 'text/plain', headers: [], stallTimeoutMs: 200 })
  await serving((exchange) => send(exchange, answer), async (port) => {
    const socket = connect(port, '127.0.0.1').pause()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await ended.promise
    assert.ok(given < mostInFlight, `${given} bytes`)
    socket.destroy()
  })
})

test('cuts the connection when a file becomes shorter while it is sent', () => withServer(async (server) => {
  const path = join(server.folder, 'large')
  writeFileSync(path, Buffer.alloc(64 * 1024 * 1024))
  const { body } = await fetch(server.url + download(path), { headers: { 'X-Session-API-Key': server.key } })
  truncateSync(path, 0)
  const all = new Response(body).arrayBuffer().then(({ byteLength }) => byteLength, () => 'cut')
  assert.is(await all, 'cut')
}))

test.run()
