/**
 * Starts the built server as an operator would, and ends it.
 *
 * The server gets a data folder and a home of its own, a free port and a known key; its address is read from the line
 * that it prints at the start. Started again on the same folder, it finds its old data there.
 */
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { within } from '../../src/base/wait.ts'
import { memberAt } from './member.ts'
import { patienceMs, type Server } from './rest.ts'

export const serverProgram = fileURLToPath(new URL('../../agent-server.js', import.meta.url))

export interface BuiltServer extends Server {
  readonly pid: number
  /** The id of its data folder, which every process that it starts carries. */
  readonly instance: string
  /** Returns its output so far. */
  output(): string
  /** Resolves when the program has ended, for any reason. */
  readonly ended: Promise<unknown>
  /** Gives the exit code after SIGTERM, or `late` when SIGKILL was needed. */
  stop(): Promise<number | null | 'late'>
}

/** Variables of its environment besides the variables that every program needs. `PATH` goes before the usual path. */
export type ServerVariables = Readonly<Record<string, string>>

/** How the server is started; default: as the user of this program. */
export interface ServerIdentity {
  readonly uid?: number
  readonly gid?: number
  /** A program with arguments that becomes the server: the command of the server follows. */
  readonly wrapper?: readonly [string, ...string[]]
}

export async function startBuiltServer(
  folder: string, moreArgs: readonly string[], variables: ServerVariables = {}, identity: ServerIdentity = {},
): Promise<BuiltServer> {
  const key = 'a-session-key-for-this-run'
  const data = join(folder, 'data')
  const port = moreArgs.includes('--port') ? [] : ['--port', '0']
  const args = ['--data-dir', data, ...port, '--session-api-key', key, ...moreArgs]
  const path = [variables['PATH'], process.env['PATH']].filter((one) => one !== undefined).join(delimiter)
  const env = { HOME: folder, LANG: 'C.UTF-8', ...variables, PATH: path }
  const { wrapper = [], ...user } = identity
  const [command = '', ...words] = [...wrapper, process.execPath, serverProgram, ...args]
  const child = spawn(command, words, {
    ...user, env, stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const url = new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      const match = /http:\/\/127\.0\.0\.1:\d+/.exec(output)
      if (match !== null) resolve(match[0])
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    void exited.then((code) => reject(new Error(`The server ended with ${code} at its start: ${output}`)))
  })
  const stop = async (): Promise<number | null | 'late'> => {
    child.kill('SIGTERM')
    const code = await within(exited, 30_000)
    if (code === 'late') child.kill('SIGKILL')
    await exited
    return code
  }
  const found = await within(url, patienceMs)
  if (found === 'late' || child.pid === undefined) {
    await stop()
    throw new Error(`The server printed no address within ${patienceMs} ms: ${output}`)
  }
  const instance = await readInstance(data)
  return { url: found, key, pid: child.pid, instance, output: () => output, ended: exited, stop }
}

async function readInstance(data: string): Promise<string> {
  const format: unknown = JSON.parse(await readFile(join(data, 'format.json'), 'utf8'))
  return String(memberAt(format, 'instance'))
}
