/**
 * Uses the console through a proxy with TLS, in Chromium, as a person does: first page, sign-in by the code that the
 * server prints, a conversation with the demonstration agent, reload, files, export, sign-out.
 *
 * The browser believes that it reaches the public name: a small SOCKS proxy sends that name to the port of nginx, and
 * refuses every other one.
 */
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { openTabThrough, type Tab } from '../../test/parts/console/chromium.ts'
import { send, show, untilStatus } from '../../test/parts/console/conversation/driving.ts'
import { until } from '../../test/support/processes.ts'
import { listAt, member, rest, textAt } from '../../test/support/rest.ts'
import type { BuiltServer } from './built-server.ts'

export interface ConsoleOptions {
  readonly server: BuiltServer
  /** The port of nginx. */
  readonly port: number
  /** The public address, without a slash at its end. */
  readonly site: string
  /** A folder for the work of the agent. */
  readonly folder: string
}

export interface ConsoleSeen {
  readonly steps: readonly string[]
  /** The addresses that the page asked for outside of the site. */
  readonly strays: readonly string[]
  readonly faults: readonly string[]
  /** Status and path of the responses with an error. */
  readonly refused: readonly string[]
  readonly cookies: readonly unknown[]
}

export async function driveConsole({ server, port, site, folder }: ConsoleOptions): Promise<ConsoleSeen> {
  const steps: string[] = []
  const proxy = await startProxy(new URL(site).host, port)
  const tab = await openTabThrough(portOf(proxy), async () => void proxy.close())
  const sockets: string[] = []
  tab.on('Network.webSocketCreated', (params) => sockets.push(String(member(params, 'url'))))
  const answered: string[] = []
  tab.on('Network.responseReceived', (params) => {
    answered.push(`${String(member(params, 'response', 'status'))} ${String(member(params, 'response', 'url'))}`)
  })
  const place = new URL(site).pathname === '/' ? 'root' : 'below'
  const picture = (what: string): Promise<void> => tab.picture(`${place}-${what}`)
  try {
    await tab.call('Security.enable')
    await tab.call('Security.setIgnoreCertificateErrors', { ignore: true })
    await tab.size(1280, 900)
    await comeIn(tab, site, server)
    steps.push('the first page asks for a key', 'the code signs in')
    await talk(tab, await create(server, site, folder))
    await picture('conversation')
    steps.push('a conversation with the demonstration agent', 'a reload shows it again, still signed in')
    await openFile(tab, folder)
    await picture('files')
    // A request that is under way at the sign-out is cut with the session, which nginx answers with 502.
    await until(() => answered.some((line) => line.includes('/api/git/changes')))
    await tab.click('Export')
    await tab.click('JSON Lines')
    await tab.untilText('The file was given to the browser')
    steps.push('a file of the workspace opens', 'the conversation is exported')
    const seen = { cookies: await cookiesOf(tab, site), faults: [...tab.faults] }
    if (sockets.length === 0) throw new Error('The page has opened no WebSocket')
    await tab.click('Sign out')
    await tab.until(hasKeyField)
    await until(async () => (await cookiesOf(tab, site)).length === 0)
    await picture('signed-out')
    steps.push('the sign-out shows the first page, and leaves no cookie')
    const refused = answered.filter((line) => /^[45]/.test(line)).map((line) => line.replace(site, ''))
    return { ...seen, steps, strays: [...tab.requests, ...sockets].filter((url) => !isWithin(url, site)), refused }
  } finally {
    await tab.close()
  }
}

const hasKeyField = "document.querySelector('input[type=password]') !== null"
const hasEchoed = "document.querySelector('.call.is-done')?.textContent.includes('through-nginx') === true"

/** Opens the first page, then the address with the code that the server printed. */
async function comeIn(tab: Tab, site: string, server: BuiltServer): Promise<void> {
  await tab.open(`${site}/console/`)
  await tab.until(hasKeyField)
  await tab.open('about:blank')
  await tab.open(`${site}/console/#code=${/#code=(\S+)/.exec(server.output())?.[1] ?? ''}`)
  await tab.until("document.querySelector('.shell') !== null")
}

async function create({ url, key }: BuiltServer, site: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'seen.txt'), 'a text of the workspace\n')
  const { post } = rest(url + new URL(site).pathname.replace(/\/$/, ''), key)
  return textAt((await post('/api/conversations', { workspace: { working_dir: folder } })).json, 'id')
}

async function talk(tab: Tab, id: string): Promise<void> {
  await show(tab, id)
  await send(tab, 'run: echo through-nginx')
  await tab.until(hasEchoed)
  await untilStatus(tab, 'Finished')
  await tab.call('Page.reload')
  await tab.until(hasEchoed)
}

async function openFile(tab: Tab, folder: string): Promise<void> {
  await tab.click('Files')
  await tab.untilText('seen.txt')
  await tab.click('seen.txt')
  const text = JSON.stringify(await readFile(join(folder, 'seen.txt'), 'utf8'))
  await tab.until(`document.querySelector('dialog .output')?.textContent === ${text}`)
}

function isWithin(url: string, site: string): boolean {
  return /^(?:about|data|blob):/.test(url) || `${url.replace(/^wss:/, 'https:')}/`.startsWith(`${site}/`)
}

async function cookiesOf(tab: Tab, site: string): Promise<unknown[]> {
  const found = listAt(await tab.call('Network.getCookies', { urls: [`${site}/api/`, `${site}/sockets/`] }), 'cookies')
  const sorted = found.toSorted((one, other) => textAt(one, 'path').localeCompare(textAt(other, 'path')))
  return sorted.map((cookie) => ({
    path: member(cookie, 'path'), secure: member(cookie, 'secure'), httpOnly: member(cookie, 'httpOnly'),
    sameSite: member(cookie, 'sameSite'),
  }))
}

/** A SOCKS5 proxy (RFC 1928) without authentication that connects one host name to one port of this machine. */
async function startProxy(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]))
      socket.once('data', (asked: Buffer) => answer(socket, asked, host, port))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function answer(socket: Socket, asked: Buffer, host: string, port: number): void {
  const isName = asked[3] === 3
  const name = asked.subarray(5, 5 + (asked[4] ?? 0)).toString('latin1')
  const reply = (code: number): void => void socket.write(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
  if (!isName || name !== host) {
    reply(2)
    socket.end()
    return
  }
  const target = connect(port, '127.0.0.1', () => {
    reply(0)
    socket.pipe(target).pipe(socket)
  })
  target.on('error', () => socket.destroy())
  socket.on('close', () => target.destroy())
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
