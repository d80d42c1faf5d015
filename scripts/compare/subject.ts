/**
 * The two servers that get the same requests: the public server of PyPI and the server of this build.
 *
 * Each has a home, a data folder and a workspace folder of its own below one temporary folder, the same session key and
 * a port of loopback. The public server is version 1.43.1, whose interface this server names in `/server_info`.
 */
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { within } from '../../src/base/wait.ts'
import { startBuiltServer } from '../real/built-server.ts'
import { installPython } from '../real/python.ts'

const version = '1.43.1'
// A later fastapi refuses an argument that this version of the server passes.
const requirements = [
  `openhands-agent-server==${version}`, `openhands-sdk==${version}`, `openhands-tools==${version}`, 'fastapi==0.150.0',
]
const startLimitMs = 300_000
const endLimitMs = 20_000

export interface Subject {
  readonly name: 'theirs' | 'ours'
  readonly url: string
  readonly key: string
  /** The folder of everything that this server writes: its home, its data, the workspaces of its conversations. */
  readonly folder: string
  readonly pid: number
  stop(): Promise<unknown>
}

/** Returns the folder of the Python environment with the public server. */
export function installPublicServer(): Promise<string> {
  return installPython({ folder: `openhands-agent-server-${version}`, requirements })
}

export async function startOurs(folder: string): Promise<Subject> {
  const own = join(folder, 'ours')
  await mkdir(join(own, 'work'), { recursive: true })
  const server = await startBuiltServer(own, ['--workspace-dir', join(own, 'work')])
  return { name: 'ours', url: server.url, key: server.key, folder: own, pid: server.pid, stop: () => server.stop() }
}

/** `key` is the session key of both servers. */
export async function startTheirs(environment: string, folder: string, key: string): Promise<Subject> {
  const own = join(folder, 'theirs')
  await mkdir(join(own, 'work'), { recursive: true })
  const port = await freePort()
  const args = ['-m', 'openhands.agent_server', '--host', '127.0.0.1', '--port', String(port)]
  const child = spawn(join(environment, 'bin', 'python'), args, {
    cwd: own, env: variables(own, key), stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => { output = (output + chunk.toString()).slice(-20_000) })
  child.stderr.on('data', (chunk: Buffer) => { output = (output + chunk.toString()).slice(-20_000) })
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  const url = `http://127.0.0.1:${port}`
  const stop = async (): Promise<unknown> => {
    child.kill('SIGTERM')
    if (await within(exited, endLimitMs) === 'late') child.kill('SIGKILL')
    return exited
  }
  const started = await Promise.race([answers(url), exited.then((code) => `it ended with ${code}`)])
  if (started === 'yes') return { name: 'theirs', url, key, folder: own, pid: child.pid ?? 0, stop }
  await stop()
  throw new Error(`Cannot start the public server: ${started}\n${output}`)
}

function variables(folder: string, key: string): Record<string, string> {
  return {
    HOME: folder,
    PATH: process.env['PATH'] ?? '',
    LANG: 'C.UTF-8',
    OH_SESSION_API_KEYS_0: key,
    OH_SECRET_KEY: 'a-key-that-seals-the-secrets-of-this-run',
    OH_CONVERSATIONS_PATH: join(folder, 'data', 'conversations'),
    OH_BASH_EVENTS_DIR: join(folder, 'data', 'bash'),
    OH_PERSISTENCE_DIR: join(folder, '.openhands'),
    OH_ENABLE_VSCODE: 'false',
    OH_PRELOAD_TOOLS: 'false',
    // Without it the server asks a host outside for the prices of models.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    // litellm adds a wait to each retry of a model.
    OTEL_SDK_DISABLED: 'true',
  }
}

async function answers(url: string): Promise<string> {
  const deadline = performance.now() + startLimitMs
  while (performance.now() < deadline) {
    const ready = await fetch(`${url}/ready`).then(({ ok }) => ok, () => false)
    if (ready) return 'yes'
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return `no answer within ${startLimitMs} ms`
}

/** A port that was free a moment ago: the public server cannot be told to choose one and say which. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new TypeError('Expected an address with a port')
  return address.port
}
