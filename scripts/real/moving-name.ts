/**
 * Tries host names in `scripts/deploy/nginx-shards.conf`, as pods have them: a name gets another address while nginx
 * runs. A DNS server of this program answers nginx, and two small servers say by their answer which of them was asked.
 */
import { execFile, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { promisify } from 'node:util'
import { until } from '../../test/support/processes.ts'
import { writeShardsNginx } from './shards-nginx.ts'

export interface MovingNameEnd {
  /** The address that answered a request for the shard, before and after the name moved. */
  readonly shard: readonly string[]
  /** The same of creations. Absent: this nginx asks for the names of an `upstream` at its start only. */
  readonly creations: readonly string[] | undefined
}

const host = 'agent-server-0.agent-server.agents.svc.cluster.local'
const addresses = ['127.0.0.2', '127.0.0.3'] as const

export async function tryMovingName(folder: string, ports: readonly [number, number]): Promise<MovingNameEnd> {
  const [entrance, port] = ports
  let current: string = addresses[0]
  const dns = createSocket('udp4')
  dns.on('message', (query, { address, port: asker }) => dns.send(answerTo(query, current), asker, address))
  dns.bind(0, '127.0.0.1')
  await once(dns, 'listening')
  const servers: Server[] = []
  for (const address of addresses) servers.push(await answering(address, port))
  const follows = await hasResolve()
  await mkdir(folder, { recursive: true })
  const main = await writeShardsNginx({
    folder, port: entrance, name: 'localhost', servers: new Map([['00', `${host}:${port}`]]),
    resolver: `127.0.0.1:${dns.address().port}`,
    creators: [follows ? `${host}:${port} resolve` : `${current}:${port}`],
  })
  const nginx = spawn('nginx', ['-p', folder, '-c', main, '-g', 'daemon off;'], { stdio: 'inherit' })
  const ended = once(nginx, 'exit')
  const ask = async (method: string, path: string): Promise<string> => {
    return fetch(`http://127.0.0.1:${entrance}${path}`, { method }).then((answer) => answer.text(), () => 'no answer')
  }
  const shard = (): Promise<string> => ask('GET', '/shards/00/alive')
  const creation = (): Promise<string> => ask('POST', '/api/conversations')
  try {
    await until(async () => (await shard()) !== 'no answer')
    const before = [await shard(), await creation()] as const
    current = addresses[1]
    await until(async () => (await shard()) !== before[0])
    if (follows) await until(async () => (await creation()) !== before[1])
    const after = [await shard(), await creation()] as const
    return { shard: [before[0], after[0]], creations: follows ? [before[1], after[1]] : undefined }
  } finally {
    nginx.kill('SIGTERM')
    await ended
    dns.close()
    for (const server of servers) server.close()
  }
}

/** True when the parameter `resolve` of a server is known: nginx 1.27.3 has it. */
async function hasResolve(): Promise<boolean> {
  const { stderr } = await promisify(execFile)('nginx', ['-v'])
  const [, major, minor, patch] = /(\d+)\.(\d+)\.(\d+)/.exec(stderr) ?? []
  return Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch) >= 1_027_003
}

async function answering(address: string, port: number): Promise<Server> {
  const server = createServer((_, response) => response.end(address)).listen(port, address)
  await once(server, 'listening')
  return server
}

/** Answers a query with one question (RFC 1035, 4.1): an A record with the address, and no record for other types. */
function answerTo(query: Buffer, address: string): Buffer {
  const endOfName = query.indexOf(0, 12) + 1
  const isAddress = query.readUInt16BE(endOfName) === 1
  const head = Buffer.from(query.subarray(0, 12))
  // A response without error to a recursive query; one question, the record or none, no other section.
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(isAddress ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  // A pointer to the name of the question, type A, class IN, 1 s to live, 4 bytes.
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]
  return Buffer.concat([head, query.subarray(12, endOfName + 4), Buffer.from(isAddress ? record : [])])
}
