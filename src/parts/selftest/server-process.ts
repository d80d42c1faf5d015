/**
 * A server of this program as a process of its own, in a temporary folder.
 *
 * Where Node's permission model works, the process runs under it, and can use the files in the folders that
 * `touches.ts` lists.
 */
import { randomUUID } from 'node:crypto'
import { dirname, extname, join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../base/errors.ts'
import { isObject, parseJson } from '../../base/json.ts'
import { existsSync, isThere } from '../../base/read-files.ts'
import { untilAborted } from '../../base/wait.ts'
import { sendRequest } from '../net/outbound.ts'
import { startChild, type Child } from '../../process/child.ts'
import { buildEnvironment, type Environment } from '../../process/environment.ts'
import { readSessionKey } from '../../settings/keys.ts'
import { namesOf, touchesIn, type Places, type Touch } from './touches.ts'

/** The JSON object in a response body. */
export type Answer = Readonly<Record<string, unknown>>

export interface ServerProcess {
  readonly child: Child
  readonly url: string
  readonly places: Places
  /** Sends a request with the session key. @throws an error unless the response has a 2xx status and a JSON object */
  call(method: string, path: string, body?: object): Promise<Answer>
  /** Sends a GET without a key and returns the status. */
  statusWithoutKey(path: string): Promise<number>
}

const modules = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')
const mainModule = join(modules, 'cli', `main${extname(import.meta.url)}`)
/** True in the published package, where the modules are bundled into a few files. */
const isJoined = !existsSync(mainModule)
/** The folder of the program's files: the folder of the bundled files, or the folder of the modules. */
const program = isJoined ? dirname(modules) : modules

export interface ServerOptions {
  readonly places: Places
  readonly environment: Environment
  /** Arguments of Node for its permission model; empty if the model is not used. */
  readonly permissions: readonly string[]
  readonly signal: AbortSignal
}

/** Starts a server. @throws AppError `agent_failed` when the server does not become ready; the signal's reason */
export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const { places, environment, permissions, signal } = options
  const main = isJoined ? join(program, 'agent-server.js') : mainModule
  const child = await startChild({
    command: process.execPath,
    args: [
      ...permissions, main, 'serve', '--host', '127.0.0.1', '--port', '0',
      '--data-dir', places.data, '--workspace-dir', places.work,
    ],
    cwd: places.work,
    env: buildEnvironment({ server: environment, own: { HOME: places.home, NODE_EXTRA_CA_CERTS: '' } }),
    marker: `self-test/${randomUUID()}`,
  })
  try {
    const [, url, keyPath] = await untilAborted(readyLine(child), signal)
    const key = await readSessionKey(dirname(keyPath))
    if (key === undefined) throw new AppError('agent_failed', `There is no session key in ${keyPath}`)
    const send = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) =>
      sendRequest({
        method, url: `${url}${path}`, headers, limitBytes: 16 * 1024 * 1024, timeoutMs: 30_000, signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const call = async (method: string, path: string, body?: object): Promise<Answer> => {
      const headers = { 'X-Session-API-Key': key, 'Content-Type': 'application/json' }
      const { status, body: bytes } = await send(method, path, headers, body)
      const answer = parseJson(bytes.toString('utf8'))
      if (status >= 200 && status < 300 && isObject(answer)) return answer
      throw new AppError('upstream_failed', `${method} ${path}: status ${status}`)
    }
    const statusWithoutKey = async (path: string): Promise<number> => (await send('GET', path, {})).status
    return { child, url, places, call, statusWithoutKey }
  } catch (thrown) {
    await child.stop()
    throw thrown
  }
}

/** Returns the folders of a server whose data, workspaces and home are in `folder`. */
export function placesIn(folder: string, { PATH: path = '' }: Environment): Places {
  return {
    data: join(folder, 'data'), work: join(folder, 'work'), home: join(folder, 'home'), program,
    path: path.split(':').filter((name) => name.startsWith('/')),
  }
}

/**
 * Returns Node's arguments for its permission model. The model allows whole folders, which may be more than the list in
 * `touches.ts` names.
 */
async function permissionsFor(places: Places): Promise<readonly string[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isStable = major > 23 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13)
  const named = touchesIn(places).filter(({ isNode = false }) => !isNode)
  const [changed, read] = await Promise.all([
    foldersOf(named.filter(({ kind }) => kind === 'change'), places),
    foldersOf(named.filter(({ kind }) => kind === 'change' || kind === 'read'), places),
  ])
  return [
    isStable ? '--permission' : '--experimental-permission',
    ...read.map((folder) => `--allow-fs-read=${folder}`),
    ...changed.map((folder) => `--allow-fs-write=${folder}`),
    // The server opens files below a folder through the folder's descriptor.
    '--allow-fs-write=/proc/self/fd',
    '--allow-child-process', '--allow-worker',
    '--disable-warning=SecurityWarning', '--disable-warning=ExperimentalWarning',
    // From Node 25 on, the permission model covers the network too.
    ...(major >= 25 ? ['--allow-net'] : []),
  ]
}

/**
 * Tries Node's permission model with a small program. Returns Node's arguments for the model. Returns `open` if the
 * model does not deny the program a file outside of `places`, and `useless` after another failure.
 */
export async function findPermissions(places: Places): Promise<readonly string[] | 'open' | 'useless'> {
  const args = await permissionsFor(places)
  const child = await startChild({
    command: process.execPath, args: [...args, '-e', trial, join(places.data, '../../outside'), places.data],
    cwd: places.work, env: {}, marker: `self-test/${randomUUID()}`,
  })
  const { code } = await child.exited
  await child.stop()
  if (code === 0) return args
  return code === 7 ? 'open' : 'useless'
}

const trial = `
  const { promises, readFileSync } = require('fs')
  try { readFileSync(process.argv[1]); process.exit(7) }
  catch (error) { if (error.code !== 'ERR_ACCESS_DENIED') process.exit(7) }
  promises.open(process.argv[2]).then((folder) => folder.sync())`

/** Returns the existing paths that rows name, each up to its first segment with `*`. Leaves out paths below others. */
async function foldersOf(rows: readonly Touch[], places: Places): Promise<readonly string[]> {
  const names = rows.flatMap(({ name }) => namesOf(name, places)).map((name) => name.replace(/\/[^/*]*\*[^]*/, ''))
  const there = await Promise.all([...new Set(names)].map(async (name) => ((await isThere(name)) ? [name] : [])))
  const folders = there.flat()
  return folders.filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)))
}

const listening = /^Agent Server listening on (http:\S+) \(session key in (.+)\)\n/m

/** Waits for the output line in which the server reports that it is ready. Returns the match of `listening`. */
function readyLine(child: Child): Promise<readonly [line: string, url: string, keyPath: string]> {
  return new Promise((resolve, reject) => {
    const decoder = new StringDecoder('utf8')
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      if (text.length < 64 * 1024) text += decoder.write(chunk)
      const [line, url, keyPath] = listening.exec(text) ?? []
      if (line !== undefined && url !== undefined && keyPath !== undefined) resolve([line, url, keyPath])
    })
    void child.exited.then(({ code, signal }) => {
      const end = signal ?? `code ${code}`
      reject(new AppError('agent_failed', `The server ended before it was ready (${end}): ${child.stderrTail()}`))
    })
  })
}
