/**
 * Tries tenants: two servers without a shard behind one nginx, each with a host name and a `server` block of
 * `scripts/deploy/nginx.conf` of its own, as the README of that folder says. TLS is left out.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { until } from '../../test/support/processes.ts'
import { listAt, member } from '../../test/support/rest.ts'
import { startBuiltServer, type BuiltServer } from './built-server.ts'

export interface TenantsEnd {
  /** For each tenant: the id that was made under its name, and the ids of the list under its name. */
  readonly lists: readonly { readonly made: unknown; readonly listed: readonly unknown[] }[]
  /** The status of each conversation under the name of the other tenant. */
  readonly foreign: readonly number[]
  /** The status of a request for a name that no block has. */
  readonly unknown: number
}

const names = ['red.example.org', 'blue.example.org'] as const

export async function tryTenants(folder: string, port: number): Promise<TenantsEnd> {
  const servers: BuiltServer[] = []
  let nginx: ChildProcess | undefined
  try {
    for (const name of names) {
      await mkdir(join(folder, name), { recursive: true })
      servers.push(await startBuiltServer(join(folder, name), ['--allowed-host', name, '--log-level', 'warn']))
    }
    const main = join(folder, 'nginx.conf')
    await writeFile(main, await configuration(folder, port, servers.map(({ url }) => new URL(url).host)))
    nginx = spawn('nginx', ['-p', folder, '-c', main, '-g', 'daemon off;'], { stdio: 'inherit' })
    const key = servers[0]?.key ?? ''
    const ask = (name: string, method: string, path: string): Promise<Answer> => send({ port, name, key, method, path })
    await until(() => ask(names[0], 'GET', '/alive').then(({ status }) => status === 200, () => false))
    const made = await Promise.all(names.map(async (name) => {
      return member((await ask(name, 'POST', '/api/conversations')).json, 'id')
    }))
    const lists = await Promise.all(names.map(async (name, index) => {
      const { json } = await ask(name, 'GET', '/api/conversations/search')
      return { made: made[index], listed: listAt(json, 'items').map((item) => member(item, 'id')) }
    }))
    const foreign = await Promise.all([...names].reverse().map(async (name, index) => {
      return (await ask(name, 'GET', `/api/conversations/${String(made[index])}`)).status
    }))
    return { lists, foreign, unknown: (await ask('green.example.org', 'GET', '/alive')).status }
  } finally {
    await Promise.all([endOf(nginx), ...servers.map((server) => server.stop())])
  }
}

/** Ends nginx, which may have ended by itself. */
async function endOf(nginx: ChildProcess | undefined): Promise<void> {
  if (nginx === undefined || nginx.exitCode !== null || nginx.signalCode !== null) return
  nginx.kill('SIGTERM')
  await once(nginx, 'exit')
}

/** Returns a configuration with a block for each host, made of the block of the deployed file. */
async function configuration(folder: string, port: number, hosts: readonly string[]): Promise<string> {
  const given = await readFile(new URL('../../../scripts/deploy/nginx.conf', import.meta.url), 'utf8')
  const begin = given.lastIndexOf('\nserver {')
  const block = given.slice(begin).replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace(/ {2}(?:ssl_|listen \[).*\n/g, '').replace('/var/log/nginx', folder)
  const blocks = hosts.map((host, index) => {
    return block.replace('agents.example.org', names[index] ?? '').replace('http://agent_server;', `http://${host};`)
  })
  // The block for port 80 sends to https, which is left out.
  const before = given.slice(0, given.indexOf('\nserver {')).replace('127.0.0.1:8000', hosts[0] ?? '')
  const other = `server { listen 127.0.0.1:${port} default_server; return 421; }`
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join('\n')
  const head = `pid ${folder}/nginx.pid;\nerror_log ${folder}/error.log;\nevents {}`
  return `${head}\nhttp {\n${temporary}\n${before}\n${other}\n${blocks.join('\n')}\n}\n`
}

interface Asked {
  readonly port: number
  readonly name: string
  readonly key: string
  readonly method: string
  readonly path: string
}

interface Answer {
  readonly status: number
  readonly json: unknown
}

async function send({ port, name, key, method, path }: Asked): Promise<Answer> {
  const headers = { Host: name, 'X-Session-API-Key': key, 'Content-Type': 'application/json' }
  const asked = request({ port, host: '127.0.0.1', method, path, headers }).end(method === 'POST' ? '{}' : undefined)
  const [response] = await once(asked, 'response')
  let text = ''
  for await (const part of response) text += String(part)
  return { status: response.statusCode, json: text.startsWith('{') ? JSON.parse(text) : undefined }
}
