/**
 * Two files of 2 GiB up and down a real server, whole and in flat memory. Prints the measurements.
 *
 * The server may grow by an eighth of one file: a server that kept a file in memory would grow by all of it.
 */
import { createHash, type Hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { withPrograms, type Program } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { uploadPieces } from '../../parts/files/form.ts'

const test = suite('slow/files/transfer', 1_800_000)
const MiB = 2 ** 20
const size = Number(process.env['MEBIBYTES'] ?? 2048) * MiB
const growthLimit = 256 * MiB

test('a file of 2 GiB goes up and down, twice at once, in flat memory', withPrograms(async (start, folder) => {
  const server = await start(['--log-level', 'warn'])
  const paths = ['first', 'second'].map((name) => join(folder, name))
  const before = peakOf(server)
  const sent = await timed('up', () => Promise.all(paths.map((path) => put(server, path))))
  assert.equal(paths.map((path) => statSync(path).size), [size, size])
  const received = await timed('down', () => Promise.all(paths.map((path) => get(server, path))))
  assert.equal(received, sent)
  const growth = peakOf(server) - before
  process.stdout.write(`memory of the server: ${before / MiB} MiB before, ${growth / MiB} MiB more at most\n`)
  assert.ok(growth < growthLimit, `the server grew by ${growth / MiB} MiB`)
  assert.is(await server.stop('SIGTERM'), 0)
}))

/** The most memory that a process has had, in bytes (proc_pid_status(5), VmHWM). */
function peakOf({ child }: Program): number {
  const [, kibibytes = '0'] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) * 1024
}

/** Uploads a file of `size` bytes and gives its SHA-256. */
async function put(server: Program, path: string): Promise<string> {
  const hash = createHash('sha256')
  assert.is(await uploadPieces(server, path, formAround(hash)), 200)
  return hash.digest('hex')
}

function* formAround(hash: Hash): Generator<Buffer> {
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n')
  for (let place = 0; place < size; place += MiB) {
    // Each piece differs from the others, so that none can be lost, doubled or swapped unseen.
    const piece = Buffer.alloc(MiB, `${place} \r\n--`)
    hash.update(piece)
    yield piece
  }
  yield Buffer.from('\r\n--b--\r\n')
}

/** Downloads a file and gives its SHA-256. */
async function get({ url, key }: Program, path: string): Promise<string> {
  const asked = request(`${url}/api/file/download?path=${encodeURIComponent(path)}`, {
    agent: false, headers: { 'X-Session-API-Key': key },
  })
  asked.end()
  const response = await responseOf(asked)
  const hash = createHash('sha256')
  let length = 0
  for await (const piece of response) {
    if (!Buffer.isBuffer(piece)) continue
    hash.update(piece)
    length += piece.length
  }
  assert.equal([response.statusCode, length], [200, size])
  return hash.digest('hex')
}

function responseOf(asked: ReturnType<typeof request>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => asked.once('error', reject).once('response', resolve))
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const begin = performance.now()
  const result = await work()
  const seconds = (performance.now() - begin) / 1000
  process.stdout.write(`${name}: two files of ${size / MiB} MiB in ${seconds.toFixed(1)} s\n`)
  return result
}

test.run()
