/**
 * `npm run real-ws`: the WebSocket against libraries of others, both ways, with and without compression.
 *
 * Installs them outside the tree; a library that cannot be had is named and left out. Their clients talk to `src/ws` as
 * an echo and to the event socket of a running server; a client of our own frames talks to their servers. Prints one
 * line for each pair, and each case that failed; ends with 1 when one did. `-- --all` runs all of Autobahn, which takes
 * about a quarter of an hour more.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine } from './command-line.ts'
import { installPackages } from './real/agent-package.ts'
import { runAutobahn } from './real/autobahn.ts'
import { startBuiltServer } from './real/built-server.ts'
import { listAt, memberAt } from './real/member.ts'
import { callServer, type Server } from './real/rest.ts'
import { openClient } from './real/ws-client.ts'
import { startEchoServer } from './real/ws-echo.ts'
import { copyPeers, runClient, withServerOf, type Case, type Outcome, type Peer } from './real/ws-peer.ts'

const packages = ['ws@8.23.0', 'faye-websocket@0.11.4', 'permessage-deflate@0.1.7']
const pythonPackage = 'websockets==17.4'
const lengths = [0, 125, 126, 65_535, 65_536, 16 * 1024 * 1024]
const closeCodes = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 4000, 4999]
/** The codes that a page may send, and the codes that RFC 6455 itself defines. */
const ofPages = closeCodes.filter((code) => code === 1000 || code >= 3000)
const ofRfc = closeCodes.filter((code) => code < 1012 || code >= 3000)
const ourOffers = {
  'no compression': undefined,
  compression: 'permessage-deflate; client_max_window_bits',
  'no context': 'permessage-deflate; server_no_context_takeover; client_no_context_takeover',
}

const { flags } = commandLine({
  command: 'npm run real-ws',
  help: 'Drives clients and servers of other WebSocket libraries, with and without compression.',
  flags: { all: { help: 'Run all of Autobahn: about a quarter of an hour more' } },
})
const started = Date.now()
let failed = 0
let passed = 0
const folder = await installPackages('websockets', packages)
await copyPeers(folder)
const peers = await findPeers()
print(`${'pair'.padEnd(52)} passed  failed  skipped`)
const echo = await startEchoServer()
try {
  for (const peer of peers) if (peer.client !== undefined) await tryClient(peer)
  for (const peer of peers) {
    if (peer.server !== undefined) await withServerOf(folder, peer, (port) => tryServer(peer, port))
  }
  await tryEventSocket()
  await tryAutobahn()
} finally {
  await echo.close()
}
print(
  `Node ${process.versions.node}, ${packages.join(', ')}, ${pythonPackage}; ` +
    `${((Date.now() - started) / 1000).toFixed(0)} s`,
)
print(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function findPeers(): Promise<Peer[]> {
  const node = [process.execPath]
  const found: Peer[] = [
    {
      name: 'ws', command: node, client: 'client-ws.mjs', server: 'server-ws.mjs', offers: 'as told', takes: closeCodes,
      sends: closeCodes,
    },
    {
      name: 'faye-websocket', command: node, client: 'client-faye.mjs', server: 'server-faye.mjs', offers: 'as told',
      takes: ofRfc, sends: ofPages,
    },
    {
      name: 'Node', command: [...node, '--experimental-websocket'], client: 'client-node.mjs', offers: 'never',
      takes: closeCodes, sends: ofPages,
    },
  ]
  const python = join(folder, 'python3', 'bin', 'python')
  const isThere = existsSync(python) ||
    ((await run('python3', ['-m', 'venv', join(folder, 'python3')])) &&
      (await run(python, ['-m', 'pip', 'install', '--quiet', pythonPackage])))
  if (isThere) {
    found.push({
      name: 'Python websockets', command: [python], client: 'client.py', server: 'server.py', offers: 'as told',
      takes: closeCodes, sends: closeCodes,
    })
  } else print('left out: Python websockets cannot be installed')
  return found
}

/** Their client, our `src/ws`. */
async function tryClient(peer: Peer): Promise<void> {
  for (const deflate of peer.offers === 'as told' ? [false, true] : [false]) {
    const deflated = peer.offers === 'as told' ? { deflated: deflate } : {}
    const cases = [...echoCases(), { name: 'ping', do: 'ping' }, ...closeCases(peer)].map((each) => ({
      ...each, ...deflated,
    }))
    const url = `ws://127.0.0.1:${echo.port}/`
    report(
      `${peer.name} client, src/ws, ${deflate ? 'compression' : 'no compression'}`,
      await runClient(folder, peer, { url, deflate, cases }),
    )
  }
}

function echoCases(): Case[] {
  return lengths.flatMap((length) => ['text', 'binary'].flatMap((type) => [1, 3].map((fragments) => (
    { name: `${type} of ${length} bytes in ${fragments}`, do: 'echo', type, length, fragments }))))
}

function closeCases({ takes, sends }: Peer): Case[] {
  return [
    ...sends.map((code) => ({ name: `closes with ${code}`, do: 'close', code })),
    ...takes.map((code) => ({ name: `is closed with ${code}`, do: 'closed', code })),
  ]
}

/** Our client, their server. */
async function tryServer(peer: Peer, port: number): Promise<void> {
  for (const [words, offer] of Object.entries(ourOffers)) {
    const outcomes: Outcome[] = []
    const add = async (
      name: string,
      path: string,
      frames: readonly (readonly [opcode: number, data: Buffer, fragments: number])[],
      expected: readonly string[],
    ): Promise<void> => {
      const client = await openClient(`ws://127.0.0.1:${port}/${path}`, offer)
      for (const [opcode, data, fragments] of frames) client.send({ opcode, data, fragments })
      const told = await client.told(expected.length)
      client.end()
      const wanted = offer === undefined ? client.mode === 'off' : client.mode !== 'off'
      const isRight = wanted && JSON.stringify(told) === JSON.stringify(expected)
      outcomes.push({
        name, isRight, skipped: false, seen: `${client.mode}: ${told.map((each) => each.slice(0, 60)).join(', ')}`,
      })
    }
    for (const length of lengths) {
      for (const fragments of [1, 3]) {
        const [text, binary] = [
          Buffer.alloc(length, 'words of a message '), Buffer.alloc(length, Buffer.from([0, 255, 7, 192])),
        ]
        const path = fragments === 1 ? '' : 'fragments'
        await add(`text of ${length} bytes in ${fragments}`, path, [[1, text, fragments]], [
          `text ${text.toString('hex')}`,
        ])
        await add(`binary of ${length} bytes in ${fragments}`, path, [[2, binary, fragments]], [
          `binary ${binary.toString('hex')}`,
        ])
      }
    }
    const hello = Buffer.from('Hello, hello, hello')
    await add(
      'three texts in one context',
      '',
      [[1, hello, 1], [1, hello, 1], [1, hello, 2]],
      [hello, hello, hello].map((each) => `text ${each.toString('hex')}`),
    )
    await add('ping', '', [[9, Buffer.from('x'), 1]], ['pong 78'])
    for (const code of peer.takes) {
      await add(`closes with ${code}`, '', [[8, Buffer.from([code >> 8, code & 0xff]), 1]], [`close ${code}`])
    }
    for (const code of peer.sends) {
      await add(`is closed with ${code}`, '', [[1, Buffer.from(`close:${code}`), 1]], [`close ${code}`])
    }
    report(`our client, ${peer.name} server, ${words}`, outcomes)
  }
}

/**
 * Their client on the event socket of a running server: a message is served, and each frame of an event is its stored
 * bytes.
 */
async function tryEventSocket(): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'real-ws-'))
  const server = await startBuiltServer(place, ['--workspace-dir', join(place, 'workspace')])
  try {
    for (const peer of peers) {
      if (peer.client === undefined) continue
      for (const deflate of peer.offers === 'as told' ? [false, true] : [false]) {
        const outcomes = await eventOutcomes(server, peer, deflate)
        report(`${peer.name} client, event socket, ${deflate ? 'compression' : 'no compression'}`, outcomes)
      }
    }
  } finally {
    await server.stop()
    await rm(place, { recursive: true, force: true })
  }
}

async function eventOutcomes(server: Server, peer: Peer, deflate: boolean): Promise<Outcome[]> {
  const id = String(memberAt(await callServer(server, 'POST', '/api/conversations', {}), 'id'))
  const url = `${server.url.replace('http', 'ws')}/sockets/events/${id}?session_api_key=${encodeURIComponent(server.key)}&resend_mode=all`
  const message = JSON.stringify({
    role: 'user', content: [{ type: 'text', text: `a long message, ${'so that it is compressed, '.repeat(200)}` }],
  })
  const deflated = peer.offers === 'as told' ? { deflated: deflate } : {}
  const [outcome] = await runClient(folder, peer, {
    url, deflate, cases: [{ name: 'a message is served', do: 'events', message, ...deflated }],
  })
  if (outcome === undefined || !outcome.seen.startsWith('frames ')) return outcome === undefined ? [] : [outcome]
  const frames: unknown = JSON.parse(outcome.seen.slice('frames '.length))
  const digests = new Set(Array.isArray(frames) ? frames : [])
  const stored = listAt(await callServer(server, 'GET', `/api/conversations/${id}/events/search?limit=100`), 'items')
  const outcomes = stored.map(async (event): Promise<Outcome> => {
    const path = `/api/conversations/${id}/events/${String(memberAt(event, 'id'))}`
    const response = await fetch(server.url + path, { headers: { 'X-Session-API-Key': server.key } })
    const bytes = Buffer.from(await response.arrayBuffer())
    const name = `${String(memberAt(event, 'kind'))} is byte for byte what REST gives`
    return {
      name,
      isRight: digests.has(createHash('sha256').update(bytes).digest('hex')),
      skipped: false,
      seen: bytes.toString().slice(0, 200),
    }
  })
  return [{ ...outcome, isRight: true, seen: '' }, ...(await Promise.all(outcomes))]
}

async function tryAutobahn(): Promise<void> {
  const found = await runAutobahn(folder, echo.port, flags.all !== undefined)
  if (typeof found === 'string') return print(`left out: Autobahn, because ${found}`)
  const right = Object.values(found.counts).reduce((sum, count) => sum + count, 0) - found.failed.length
  passed += right
  failed += found.failed.length
  print(row('Autobahn client, src/ws', right, found.failed.length, 0))
  print(`     in its words: ${Object.entries(found.counts).map(([word, count]) => `${count} ${word}`).join(', ')}`)
  for (const each of found.failed) print(`FAIL ${each}`)
}

function report(pair: string, outcomes: readonly Outcome[]): void {
  const wrong = outcomes.filter(({ isRight, skipped }) => !isRight && !skipped)
  const skipped = outcomes.filter((outcome) => outcome.skipped).length
  const right = outcomes.length - wrong.length - skipped
  passed += right
  // Nothing tried is nothing shown.
  failed += wrong.length + (outcomes.length === 0 ? 1 : 0)
  print(row(pair, right, wrong.length, skipped))
  for (const { name, seen } of wrong) print(`FAIL ${pair}: ${name}: ${seen}`)
}

function row(pair: string, right: number, wrong: number, skipped: number): string {
  return `${pair.padEnd(52)} ${String(right).padStart(6)}  ${String(wrong).padStart(6)}  ${String(skipped).padStart(7)}`
}

function run(program: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore' })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
