/**
 * `npm run real-fleet`: several servers behind the nginx of this machine with `scripts/deploy/nginx-shards.conf`, under
 * 100 clients. A server is added, one is restarted with a drain, one is killed and its folder is taken over by another.
 * Then two servers are tenants, each with a host name, and a server gets another address under its name.
 *
 * Each client compares all that it got with the log: nothing may be missing, doubled or out of order. Needs `nginx`
 * (Debian: `apt-get install nginx-light`). TLS is left out here; `npm run real-deploy` tries it. Nothing is left.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../test/support/processes.ts'
import { member, listAt, rest } from '../test/support/rest.ts'
import { fakeAgent } from '../test/support/server.ts'
import { SteadyClients } from '../test/e2e/steady-clients.ts'
import { commandLine } from './command-line.ts'
import { tryLease } from './real/lease.ts'
import { tryMovingName } from './real/moving-name.ts'
import { writeShardsNginx } from './real/shards-nginx.ts'
import { tryTenants } from './real/tenants.ts'
import { serverProgram, startBuiltServer, type BuiltServer } from './real/built-server.ts'

commandLine({
  command: 'npm run real-fleet',
  help: 'Routes several servers through nginx by the shard of an id, and moves them under the load of 100 clients.',
})
const name = 'localhost'
const folder = await mkdtemp(join(tmpdir(), 'real-fleet-'))
const servers = new Map<string, { readonly port: number; server: BuiltServer }>()
const entrance = await freePort()
const url = `http://${name}:${entrance}`
let nginx: ChildProcess | undefined
let failed = 0
try {
  await startShard('0a')
  await startShard('0b')
  nginx = await startNginx()
  await tryRoutes()
  await tryMoves()
  await tryFolderWithoutFlock()
  await tryHostNames()
  await tryNamesOfServers()
} finally {
  nginx?.kill('SIGTERM')
  await Promise.all([...servers.values()].map(({ server }) => server.stop()))
  await rm(folder, { recursive: true, force: true })
}
print(`${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** The clients talk while servers come and go. */
async function tryMoves(): Promise<void> {
  const key = keyOf('0a')
  const options = { key, url: () => url, agent: fakeAgent('echo'), running: 10 }
  const first = new SteadyClients({ ...options, clients: 80, messages: 40 })
  let second: SteadyClients | undefined
  try {
    await first.reach(400)
    await startShard('0c')
    await reload()
    second = new SteadyClients({ ...options, clients: 20, messages: 40 })
    await first.reach(1200)
    check('a drained server ends with 0', await restart('0a'), 0)
    await first.reach(2000)
    await tryTakeover()
    await Promise.all([first.finish(), second.finish()])
  } finally {
    await Promise.all([first.close(), second?.close()])
  }
  const groups = [first, second]
  const shards = groups.flatMap(({ ids }) => ids).map((id) => id.slice(0, 2))
  const counts = ['0a', '0b', '0c'].map((shard) => shards.filter((each) => each === shard).length)
  check('every conversation has the shard of a server', counts.reduce((sum, count) => sum + count, 0), 100)
  check('each server has conversations', counts.every((count) => count > 0), true)
  const sum = (count: (clients: SteadyClients) => number): number => groups.reduce((all, each) => all + count(each), 0)
  check('every message was accepted once', sum(({ accepted }) => accepted), 4000)
  print(`      ${counts.join(', ')} conversations; ${sum(({ repeated }) => repeated)} requests repeated, ` +
    `${sum(({ connections }) => connections)} connections; nothing missing, doubled or out of order`)
}

/** A folder has one owner. After the owner was killed, the next server may have it, here on another port. */
async function tryTakeover(): Promise<void> {
  const old = servers.get('0b')
  if (old === undefined) throw new Error('There is no server 0b')
  process.kill(old.server.pid, 'SIGSTOP')
  const rival = spawn(process.execPath, [serverProgram, '--data-dir', join(folder, '0b', 'data'), '--port', '0'], {
    env: { HOME: join(folder, '0b'), PATH: process.env['PATH'] }, stdio: 'ignore',
  })
  const [code] = await once(rival, 'exit')
  check('a second server on the folder of a stopped one ends with 4', code, 4)
  process.kill(old.server.pid, 'SIGKILL')
  await old.server.ended
  await startShard('0b')
  await reload()
}

/** The lease of a folder on a file system without flock, see scripts/real/lease.ts. */
async function tryFolderWithoutFlock(): Promise<void> {
  const { early, changed, code, statuses } = await tryLease(join(folder, 'lease'))
  check('without flock a second server ends with 4 while the first one lives', early, 4)
  check('a server that was stopped until another took its folder over changes nothing there', changed, [])
  check('and ends with 4', code, 4)
  check('and accepts none of the changes that waited for it', statuses.filter((status) => status === 200), [])
}

/** A server for each tenant, chosen by the host name, see scripts/real/tenants.ts. */
async function tryHostNames(): Promise<void> {
  const { lists, foreign, unknown } = await tryTenants(join(folder, 'tenants'), await freePort())
  for (const { made, listed } of lists) check('the list of a tenant has its conversation and no other', listed, [made])
  check('a conversation of another tenant is not found', foreign, [404, 404])
  check('a name of no tenant gets 421', unknown, 421)
}

/** Names in place of addresses in the lists of nginx, see scripts/real/moving-name.ts. */
async function tryNamesOfServers(): Promise<void> {
  const { shard, creations } = await tryMovingName(join(folder, 'names'), [await freePort(), await freePort()])
  const moved = ['127.0.0.2', '127.0.0.3']
  check('nginx follows the name of a server that gets another address', shard, moved)
  if (creations === undefined) print('      the names of an upstream were not tried: this nginx is older than 1.27.3')
  else check('and so do creations', creations, moved)
}

async function tryRoutes(): Promise<void> {
  const { get, post, send } = rest(url, keyOf('0a'))
  const ids = await Promise.all(Array.from({ length: 8 }, async () => {
    return String(member((await post('/api/conversations', {})).json, 'id'))
  }))
  check('creations reach both servers', new Set(ids.map((id) => id.slice(0, 2))).size, 2)
  const forms = ids.flatMap((id) => [id, id.toUpperCase(), id.replaceAll('-', '')])
  const found = await Promise.all(forms.map(async (id) => (await get(`/api/conversations/${id}`)).status))
  check('each id is routed, with and without dashes and in capitals', new Set(found), new Set([200]))
  const listed = await Promise.all(['0a', '0b'].map(async (shard) => {
    const { json } = await get(`/shards/${shard}/api/conversations/search`)
    return listAt(json, 'items').map((item) => member(item, 'id'))
  }))
  check('the lists of all shards have every id', listed.flat().sort(), [...ids].sort())
  check('a list without a shard gets 421', (await get('/api/conversations/search')).status, 421)
  check('settings without a shard get 421', (await get('/api/settings')).status, 421)
  check('an unknown shard gets 421', (await get(`/api/conversations/ff${ids[0]?.slice(2)}`)).status, 421)
  check('/metrics is hidden', (await get('/shards/0a/metrics')).status, 404)
  check('/ready needs no shard', (await get('/ready')).status, 200)
  const twice = await Promise.all(Array.from({ length: 4 }, () => {
    return send('POST', '/api/conversations', { body: {}, headers: { 'Idempotency-Key': 'same' } })
  }))
  check('creations with one key are one', new Set(twice.map(({ json }) => member(json, 'id'))).size, 1)
}

function keyOf(shard: string): string {
  return servers.get(shard)?.server.key ?? ''
}

async function startShard(shard: string, port?: number): Promise<void> {
  const home = join(folder, shard)
  await mkdir(home, { recursive: true })
  const place = port ?? (await freePort())
  const server = await startBuiltServer(home, [
    '--shard', shard, '--port', String(place), '--agent-limit', '100', '--workspace-dir', join(home, 'workspaces'),
    '--log-level', 'warn', '--metrics',
  ])
  servers.set(shard, { port: place, server })
}

async function restart(shard: string): Promise<number | null | 'late' | undefined> {
  const known = servers.get(shard)
  const code = await known?.server.stop()
  await startShard(shard, known?.port)
  return code
}

/** Writes the configuration for the servers of now. */
async function writeConfiguration(): Promise<string> {
  const places = new Map([...servers].map(([shard, { port }]) => [shard, `127.0.0.1:${port}`]))
  return writeShardsNginx({ folder, port: entrance, name, servers: places })
}

async function startNginx(): Promise<ChildProcess> {
  const main = await writeConfiguration()
  const child = spawn('nginx', ['-p', folder, '-c', main, '-g', 'daemon off;'], { stdio: 'inherit' })
  await until(() => fetch(`${url}/alive`).then(({ ok }) => ok, () => false))
  return child
}

/**
 * Lets nginx read the configuration again: SIGHUP replaces its workers, and the old workers serve their connections.
 */
async function reload(): Promise<void> {
  await writeConfiguration()
  nginx?.kill('SIGHUP')
  for (const shard of servers.keys()) {
    await until(() => fetch(`${url}/shards/${shard}/alive`).then(({ ok }) => ok, () => false))
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function check(what: string, seen: unknown, expected: unknown): void {
  const plain = (value: unknown): string => JSON.stringify(value instanceof Set ? [...value] : value)
  const holds = plain(seen) === plain(expected)
  if (!holds) failed++
  print(holds ? `ok    ${what}` : `FAIL  ${what}: expected ${plain(expected)}, was ${plain(seen)}`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
