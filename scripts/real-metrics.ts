/**
 * `npm run real-metrics`: has the Prometheus of this machine read a built server, with the files of `scripts/deploy`,
 * and has its logrotate rotate the logs of the server.
 *
 * `promtool` checks the metrics, the configuration and the alerts. Then Prometheus scrapes a server that works, and
 * answers the expression of every panel of the dashboard and of every alert. Needs `prometheus`, `promtool` and
 * `logrotate` (Debian: `apt-get install prometheus logrotate`). Prints a line for each check and ends with 1 when one
 * fails. Nothing is left.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, request } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { commandLine } from './command-line.ts'
import { serverProgram, startBuiltServer, type BuiltServer } from './real/built-server.ts'
import { listAt, memberAt } from './real/member.ts'

const deploy = new URL('../../scripts/deploy/', import.meta.url)
const run = promisify(execFile)

commandLine({
  command: 'npm run real-metrics',
  help: 'Has Prometheus read a server with the files of scripts/deploy, and logrotate rotate its logs.',
})
for (const program of ['promtool', 'prometheus', 'logrotate']) {
  const isThere = await run(program, ['--version']).then(() => true, () => false)
  if (isThere) continue
  process.stderr.write(`Could not run ${program}: install it (Debian: apt-get install prometheus logrotate)\n`)
  process.exit(2)
}
const folder = await mkdtemp(join(tmpdir(), 'real-metrics-'))
const receiver = createHttpServer((_, response) => void response.writeHead(204).end()).listen(0, '127.0.0.1')
await once(receiver, 'listening')
let failed = 0
try {
  const logs = join(folder, 'logs')
  await mkdir(logs)
  const files = ['--access-log', join(logs, 'access.jsonl'), '--log-file', join(logs, 'server.jsonl')]
  const webhook = ['--webhook', `http://127.0.0.1:${portOf(receiver)}`]
  const limits = ['--max-conversations', '1000', '--max-runs', '10', '--max-disk', '10000000000']
  const server = await startBuiltServer(folder, ['--metrics', '--log-level', 'debug', ...webhook, ...files, ...limits])
  try {
    // The panel of the backup's age has a value once there is a backup.
    await run(process.execPath, [serverProgram, 'backup', '--data-dir', join(folder, 'data'), join(folder, 'backup')])
    await converse(server)
    await tryText(server)
    await tryPrometheus(server)
    await tryRotation(server, logs)
  } finally {
    check('the server ends in good order', await server.stop(), 0)
  }
} finally {
  receiver.closeAllConnections()
  receiver.close()
  await rm(folder, { recursive: true, force: true })
}
print(`${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Has the demonstration agent answer a message, and opens two WebSockets, of which the first is cut. */
async function converse(server: BuiltServer): Promise<void> {
  const agent = { kind: 'ACPAgent', acp_command: ['agent-server-demo-agent'] }
  const content = [{ type: 'text', text: 'Say hello' }]
  const policy = { kind: 'NeverConfirm' }
  const made = await ask(server, 'POST', '/api/conversations', {
    agent, confirmation_policy: policy, initial_message: { content, run: true },
  })
  const path = `/api/conversations/${String(memberAt(made, 'id'))}`
  await until('the conversation has ended', async () => {
    return memberAt(await ask(server, 'GET', path), 'execution_status') === 'finished'
  })
  // The part git begins, and has figures, with its first request.
  await ask(server, 'GET', `/api/git/changes?path=${folder}`)
  const first = await openSocket(server, path.replace('/api/conversations', '/sockets/events'))
  first.destroy()
  await openSocket(server, path.replace('/api/conversations', '/sockets/events'))
}

/** Opens a WebSocket that reads on until the server ends. */
async function openSocket({ url, key }: BuiltServer, path: string): Promise<Duplex> {
  const asked = request(url + path, { headers: {
    Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'X-Session-API-Key': key,
    'Sec-WebSocket-Key': Buffer.from('sixteen bytes...').toString('base64'),
  } }).end()
  const socket = await new Promise<Duplex>((resolve, reject) => {
    asked.on('upgrade', (_, opened) => resolve(opened))
    asked.on('error', reject)
  })
  // Node answers no Close frame for us: the end of the server is the end of the connection.
  return socket.resume().on('error', () => socket.destroy())
}

/** Checks the text of `/metrics` and the files with promtool. */
async function tryText(server: BuiltServer): Promise<void> {
  const headers = { Authorization: `Bearer ${server.key}` }
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
  const checking = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'inherit', 'inherit'] })
  checking.stdin.end(text)
  check('promtool finds nothing in the metrics', (await once(checking, 'exit'))[0], 0)
  const rules = new URL('alerts.yml', deploy).pathname
  const checked = await run('promtool', ['check', 'rules', rules])
  check('promtool finds nothing in the alerts', /SUCCESS: \d+ rules found/.test(checked.stdout), true)
}

async function tryPrometheus(server: BuiltServer): Promise<void> {
  const port = await freePort()
  const keyFile = join(folder, 'key')
  await writeFile(keyFile, `${server.key}\n`, { mode: 0o600 })
  const config = (await readFile(new URL('prometheus.yml', deploy), 'utf8'))
    .replace('/etc/prometheus/agent-server-alerts.yml', new URL('alerts.yml', deploy).pathname)
    .replace('/etc/prometheus/agent-server-key', keyFile)
    .replace('127.0.0.1:8000', new URL(server.url).host)
    .replace('scrape_interval: 15s', 'scrape_interval: 1s')
  const configFile = join(folder, 'prometheus.yml')
  await writeFile(configFile, config)
  await run('promtool', ['check', 'config', configFile])
  const prometheus = spawn('prometheus', [
    `--config.file=${configFile}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${port}`, '--log.level=warn',
  ], { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(prometheus, 'exit')
  try {
    const query = queryAt(`http://127.0.0.1:${port}`)
    await until('Prometheus has read the server twice', async () => {
      return Number(await query('count_over_time(up{job="agent-server"}[1m]) and up{job="agent-server"} == 1')) >= 2
    })
    check('Prometheus counts the finished conversation', await query(statusOf('finished')), '1')
    for (const expression of await dashboardExpressions()) {
      const value = await query(expression)
      check(`the panel has a value: ${expression.slice(0, 70)}`, value !== undefined, true)
    }
    let alerts: unknown[] = []
    await until('Prometheus has evaluated every alert', async () => {
      alerts = listAt(await answerOf(`http://127.0.0.1:${port}/api/v1/rules`), 'data', 'groups', 0, 'rules')
      return alerts.length > 0 && alerts.every((alert) => memberAt(alert, 'health') === 'ok')
    })
    check('no alert is about a healthy server', alerts.filter((alert) => memberAt(alert, 'state') !== 'inactive'), [])
  } finally {
    prometheus.kill('SIGTERM')
    await ended
  }
}

function statusOf(status: string): string {
  return `agent_server_conversations{status="${status}"}`
}

/** The expressions of the panels, as Grafana fills them in. */
async function dashboardExpressions(): Promise<string[]> {
  const dashboard: unknown = JSON.parse(await readFile(new URL('dashboard.json', deploy), 'utf8'))
  return listAt(dashboard, 'panels').flatMap((panel) => listAt(panel, 'targets')).map((target) => {
    return String(memberAt(target, 'expr')).replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m')
  })
}

/** Returns a function that evaluates an expression: its first value, `+Inf` and `NaN` too; undefined for none. */
function queryAt(url: string): (expression: string) => Promise<string | undefined> {
  return async (expression) => {
    const answer = await answerOf(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`)
    const problem = memberAt(answer, 'error')
    if (problem !== undefined) check(`Prometheus reads ${expression}`, problem, undefined)
    const value = memberAt(answer, 'data', 'result', 0, 'value', 1)
    return value === undefined ? undefined : String(value)
  }
}

/** Rotates with the deployed file, but for its folder, its service manager and the age of the files. */
async function tryRotation(server: BuiltServer, logs: string): Promise<void> {
  const config = (await readFile(new URL('logrotate', deploy), 'utf8'))
    .replace('/var/log/agent-server', logs)
    .replace(/systemctl kill .*/, `kill -HUP ${server.pid}`)
  const file = join(folder, 'logrotate')
  await writeFile(file, config, { mode: 0o600 })
  for (const round of [1, 2]) {
    await ask(server, 'GET', '/server_info')
    await run('logrotate', ['--force', '--state', join(folder, 'logrotate.state'), file])
    await until('the server has opened both files again', async () => (await readdir(logs)).includes('server.jsonl'))
    await until('the log goes on in a new file', async () => {
      return (await readFile(join(logs, 'server.jsonl'), 'utf8')).includes('The log files were opened again')
    })
    check(`logrotate, round ${round}`, (await readdir(logs)).filter((name) => !name.endsWith('.gz')).sort(), [
      'access.jsonl', 'access.jsonl.1', 'server.jsonl', 'server.jsonl.1',
    ])
  }
}

async function ask({ url, key }: BuiltServer, method: string, path: string, body?: object): Promise<unknown> {
  const headers = { 'X-Session-API-Key': key, 'Content-Type': 'application/json' }
  const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

async function answerOf(url: string): Promise<unknown> {
  return fetch(url).then(async (answer): Promise<unknown> => answer.json(), () => undefined)
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds().catch(() => false)) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`Not within a minute: ${what}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  return port
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function check(what: string, seen: unknown, expected: unknown): void {
  const holds = JSON.stringify(seen) === JSON.stringify(expected)
  if (!holds) failed++
  print(holds ? `ok    ${what}` : `FAIL  ${what}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(seen)}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
