/**
 * `npm run real-deploy`: starts the nginx of this machine with `scripts/deploy/nginx.conf` in front of a built server,
 * and uses the server through TLS as clients do, and the console in Chromium; then rates the systemd unit with
 * `systemd-analyze`. With CONSOLE_PICTURES set, pictures of the console go into that folder.
 *
 * Needs `nginx`, `openssl`, `systemd-analyze` and `chromium` (Debian: `apt-get install nginx-light openssl systemd
 * chromium`). Prints a line for each check and ends with 1 when one fails. Nothing is left.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { closeBrowser } from '../test/parts/console/chromium.ts'
import { until } from '../test/support/processes.ts'
import { commandLine } from './command-line.ts'
import { startBuiltServer, type BuiltServer } from './real/built-server.ts'
import { driveConsole } from './real/console-through.ts'
import { memberAt } from './real/member.ts'

const name = 'agents.example.org'
const deploy = new URL('../../scripts/deploy/', import.meta.url)
const run = promisify(execFile)
const wrongKey = { 'X-Session-API-Key': 'not-the-key-of-this-server' }

commandLine({
  command: 'npm run real-deploy',
  help: 'Uses a server through nginx and TLS with the files of scripts/deploy, and rates the systemd unit.',
})
const folder = await mkdtemp(join(tmpdir(), 'real-deploy-'))
const accessLog = join(folder, 'access.jsonl')
let failed = 0
try {
  for (const base of ['', '/agents']) {
    print(base === '' ? 'at the root' : `below ${base}`)
    const below = base === '' ? [] : ['--base-path', base]
    const options = ['--metrics', '--access-log', accessLog, '--allowed-host', name, ...below]
    const server = await startBuiltServer(folder, options)
    try {
      await withNginx(server, (port, ca) => tryServer(server, { port, ca, base }))
    } finally {
      await server.stop()
    }
  }
  await tryUnit()
} finally {
  await closeBrowser()
  await rm(folder, { recursive: true, force: true })
}
print(`${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function withNginx(server: BuiltServer, body: (port: number, ca: string) => Promise<void>): Promise<void> {
  const [port, plain] = await Promise.all([freePort(), freePort()])
  const key = join(folder, 'tls.key')
  const certificate = join(folder, 'tls.crt')
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
  const files = ['-keyout', key, '-out', certificate]
  await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...subject])
  const conf = (await readFile(new URL('nginx.conf', deploy), 'utf8'))
    .replace('listen 80;', `listen 127.0.0.1:${plain};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace(/ {2}listen \[::\].*\n/g, '')
    .replace('/etc/nginx/agents.example.org.crt', certificate)
    .replace('/var/log/nginx', folder)
    .replace('/etc/nginx/agents.example.org.key', key)
    .replace('127.0.0.1:8000', new URL(server.url).host)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join('\n')
  const main = join(folder, 'nginx.conf')
  const head = `pid ${folder}/nginx.pid;\nerror_log stderr crit;\nevents {}`
  await writeFile(main, `${head}\nhttp {\n${temporary}\n${conf}\n}\n`)
  const nginx = spawn('nginx', ['-p', folder, '-c', main, '-g', 'daemon off;'], { stdio: 'inherit' })
  const ended = once(nginx, 'exit')
  try {
    await listening(port)
    const moved = await fetch(`http://127.0.0.1:${plain}/health`, { redirect: 'manual' })
    check('http is sent on to https', [moved.status, moved.headers.get('location')?.slice(0, 8)], [308, 'https://'])
    await body(port, await readFile(certificate, 'utf8'))
  } finally {
    nginx.kill('SIGTERM')
    await ended
  }
}

interface Address {
  readonly port: number
  readonly ca: string
  /** The value of `--base-path`. */
  readonly base: string
}

async function tryServer(server: BuiltServer, address: Address): Promise<void> {
  const key = { 'X-Session-API-Key': server.key }
  const json = { ...key, 'Content-Type': 'application/json' }
  check('/health answers through TLS', (await call(address, { path: '/health' })).status, 200)
  check('a wrong key is refused', (await call(address, { path: '/api/settings', headers: wrongKey })).status, 401)
  check('/metrics is hidden', (await call(address, { path: '/metrics', headers: key })).status, 404)
  const origin = { Origin: 'https://elsewhere.example' }
  const foreign = await call(address, { path: '/api/settings', headers: { ...key, ...origin } })
  check('a page of another origin is refused', foreign.status, 403)
  const long = { title: 'x', initial_message: { content: [{ type: 'text', text: 'x'.repeat(2_000_000) }], run: false } }
  const created = await call(address, { path: '/api/conversations', method: 'POST', headers: json }, long)
  check('a body of 2 MB passes', created.status, 201)
  const conversation = `/api/conversations/${String(memberAt(JSON.parse(created.text), 'id'))}`
  await tryStream(address, `${conversation}/events/stream`, key)
  await trySocket(address, conversation.replace('/api/conversations', '/sockets/events'), key)
  await tryConsole(server, address)
  await tryAccessLog(address)
  await tryLimits(address)
}

/** A line has the address, no query, and the id under which the server's own access log has the request. */
async function tryAccessLog(address: Address): Promise<void> {
  const linesOf = async (start: string): Promise<readonly string[]> => {
    const lines = (await readFile(join(folder, 'agent-server.log'), 'utf8')).trim().split('\n')
    const ids = lines.filter((line) => line.includes(start)).map((line) => line.slice(line.lastIndexOf(' ') + 1))
    const own = await readFile(accessLog, 'utf8')
    return ids.filter((id) => own.includes(`"request_id":"${id}"`))
  }
  const { requestId } = await call(address, { path: '/health?session_api_key=secret' })
  const health = ` 127.0.0.1 GET "${address.base}/health`
  const socket = ` 127.0.0.1 GET "${address.base}/sockets/events/`
  await until(async () => (await linesOf(health)).includes(String(requestId)) && (await linesOf(socket)).length > 0)
  check('the access log has the address and the id of a request', true, true)
  check('and no query', (await linesOf(`${health}" 200 `)).includes(String(requestId)), true)
}

async function tryLimits(address: Address): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 300 }, () => call(address, { path: '/health' })))
  const statuses = [...new Set(answers.map(({ status }) => status))].sort()
  check('more requests than an address may send get 429', statuses, [200, 429])
}

/** The console in Chromium, see scripts/real/console-through.ts. */
async function tryConsole(server: BuiltServer, { port, base }: Address): Promise<void> {
  const seen = await driveConsole({ server, port, site: `https://${name}${base}`, folder: join(folder, `work${base}`) })
  for (const step of seen.steps) check(`the console: ${step}`, true, true)
  check('no request of the page leaves the path', seen.strays, [])
  // The page asks once whether it is signed in.
  check('every request is answered well', seen.refused, ['401 /api/console/sessions'])
  check('the page has no other error, and no refused script', seen.faults.filter((fault) => !/ 401 /.test(fault)), [])
  const cookie = { secure: true, httpOnly: true, sameSite: 'Strict' }
  const cookies = ['api', 'sockets'].map((path) => ({ path: `${base}/${path}`, ...cookie }))
  check('the cookies are for the interface below the path alone', seen.cookies, cookies)
}

async function tryStream(address: Address, path: string, headers: OutgoingHttpHeaders): Promise<void> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = open(address, { path, headers }, (response) => {
      let read = ''
      response.on('data', (chunk: Buffer) => {
        read += chunk.toString()
        if (!read.includes('"kind"')) return
        resolve(read)
        asked.destroy()
      })
      response.on('end', () => resolve(`ended: ${read}`))
      response.on('error', reject)
    })
    asked.once('error', reject).end()
  })
  check('an event of the stream arrives while the stream is open', text.startsWith('ended'), false)
}

async function trySocket(address: Address, path: string, headers: OutgoingHttpHeaders): Promise<void> {
  const upgrade = {
    Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': Buffer.from('sixteen bytes...').toString('base64'),
  }
  const socket = await new Promise<string>((resolve, reject) => {
    const asked = open(address, { path, headers: { ...headers, ...upgrade } }, (response) => {
      resolve(`status ${response.statusCode}`)
    })
    asked.once('upgrade', (_, stream, head) => {
      const read = (chunk: Buffer): void => {
        resolve(chunk.toString('latin1'))
        stream.destroy()
      }
      if (head.length > 0) read(head)
      else stream.once('data', read)
    })
    asked.once('error', reject).end()
  })
  check('the WebSocket opens and brings an event', socket.includes('"kind"'), true)
}

interface Call {
  readonly path: string
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly requestId: unknown
}

function call(address: Address, options: Call, body?: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    open(address, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      const { statusCode: status = 0, headers } = response
      const requestId = headers['x-request-id']
      response.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString(), requestId }))
      response.on('error', reject)
    }).once('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function open(address: Address, options: Call, answered: (response: IncomingMessage) => void): ClientRequest {
  const { port, ca, base } = address
  const headers: OutgoingHttpHeaders = { Host: name, ...options.headers }
  const path = base + options.path
  const place = { host: '127.0.0.1', servername: name, port, ca, path }
  return request({ ...options, ...place, agent: false, headers }, answered)
}

async function tryUnit(): Promise<void> {
  const unit = fileURLToPath(new URL('agent-server.service', deploy))
  const { stdout } = await run('systemd-analyze', ['security', '--offline=yes', '--threshold=30', unit])
  const exposure = /exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]
  check(`systemd-analyze rates the unit with ${exposure}; 10 is no protection`, Number(exposure) <= 3, true)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('nginx does not listen after 10 s')
}

function check(what: string, seen: unknown, expected: unknown): void {
  const holds = JSON.stringify(seen) === JSON.stringify(expected)
  if (!holds) failed++
  print(holds ? `ok    ${what}` : `FAIL  ${what}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(seen)}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
