/**
 * Real servers for end-to-end tests, with folders of their own and nothing left behind.
 *
 * `startServer` runs one in this process and listens on a free port; `withPrograms` runs the built command line as a
 * child, to be killed and started again on the same folder. Both give the same view of it: REST, sockets, paths.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join, extname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createAgentServer, type AgentServer, type AgentServerOptions } from '../../src/index.ts'
import { SecretFolder } from '../../src/process/secret-folder.ts'
import { instanceOf } from '../../src/storage/data-folder-claim.ts'
import { makeFolder } from './processes.ts'
import { programFile } from './program-file.ts'
import { rest, type Rest } from './rest.ts'
import { connect, type Client } from './ws-client.ts'

/** The members of a server that a test needs, for a server in this process or in another one. */
export interface Reachable {
  readonly url: string
  readonly key: string
  readonly rest: Rest
  /** A socket that brings the key in its header. `query` begins with `?`. */
  socket(conversationId: string, query?: string): Promise<Client>
}

export interface Folders {
  /** The folder above all others. Files that a test adds there are removed at the end. */
  readonly folder: string
  readonly dataDir: string
  readonly workspaceDir: string
}

export interface TestServer extends Reachable, Folders {
  readonly server: AgentServer
  /** The lines of its log. */
  readonly log: readonly string[]
  close(): Promise<void>
}

const key = 'the-key-of-the-tests'

export type TestServerOptions = Partial<AgentServerOptions> & {
  /** Of an earlier server: it is used again, and then left there. */
  readonly folder?: string
}

/** Starts a server in this process. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { folder: given, ...rest } = options
  const made = given === undefined ? makeFolder() : { folder: given, remove: () => undefined }
  const folders = foldersIn(made.folder)
  const log: string[] = []
  const environment = { PATH: process.env['PATH'], HOME: made.folder }
  const { dataDir, workspaceDir } = folders
  const settings = {
    dataDir, workspaceDir, port: 0, sessionApiKeys: [key], environment, logLevel: 'debug', ...rest,
  } as const
  try {
    const server = await createAgentServer({ ...settings, writeLog: (line) => void log.push(line) })
    const { url } = await server.listen()
    const close = (): Promise<void> => server.close().finally(made.remove)
    return { ...folders, ...reachable(url), server, log, close }
  } catch (thrown) {
    made.remove()
    throw thrown
  }
}

/** Runs a test body with a server, and takes it down in any case. */
export async function withServer<T>(
  body: (server: TestServer) => Promise<T>, options: TestServerOptions = {},
): Promise<T> {
  const server = await startServer(options)
  try {
    return await body(server)
  } finally {
    await server.close()
  }
}

/** The same on the folder of an earlier server. */
export function inServer<T>(folder: string, body: (server: TestServer) => Promise<T>): Promise<T> {
  return withServer(body, { folder })
}

export interface Program extends Reachable, Folders {
  readonly child: ChildProcess
  /** The output so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Sends a signal and waits for the end: the exit code, or the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | string>
}

export interface StartOptions {
  /** Without it the program makes a session key of its own. */
  readonly withKey: boolean
  /** A command with arguments that runs the command line behind it. */
  readonly launcher?: readonly string[]
  /** The variables that it gets besides PATH and HOME. */
  readonly environment?: NodeJS.ProcessEnv
  /** Another file than tests usually start. */
  readonly program?: string
}

/** Starts `agent-server serve` as `startProgram` does. */
export type StartProgram = (args?: readonly string[], options?: StartOptions) => Promise<Program>

/**
 * Returns a test that runs `body` with a folder of its own, in which it may start programs. Programs that it does not
 * stop are killed.
 */
export function withPrograms(body: (start: StartProgram, folder: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const { folder, remove } = makeFolder()
    const programs: Program[] = []
    try {
      await body(async (args, options) => {
        const program = await startProgram(folder, args, options)
        programs.push(program)
        return program
      }, folder)
    } finally {
      for (const { child, stop } of programs) {
        if (child.exitCode === null && child.signalCode === null) await stop('SIGKILL')
      }
      await removeSecrets(join(folder, 'data'))
      remove()
    }
  }
}

/** Removes the secrets that a killed program has left in memory, where no other program looks for them. */
async function removeSecrets(dataDir: string): Promise<void> {
  const instance = await instanceOf(dataDir).catch(() => undefined)
  if (instance === undefined) return
  const { paths } = new SecretFolder({ instance, environment: {}, runtimeDir: join(dataDir, 'runtime') })
  for (const path of paths) rmSync(path, { recursive: true, force: true })
}

/** Starts `agent-server serve` as a child and waits until it is ready. The caller stops it and removes the folder. */
export async function startProgram(
  folder: string, args: readonly string[] = [], options: StartOptions = { withKey: true },
): Promise<Program> {
  const folders = foldersIn(folder)
  const where = ['--port', '0', '--data-dir', folders.dataDir, '--workspace-dir', folders.workspaceDir]
  const access = options.withKey ? ['--session-api-key', key] : []
  // Most tests end a server in the middle of a run that never ends by itself.
  const drain = args.includes('--drain-seconds') ? [] : ['--drain-seconds', '0']
  const { child, output, ended } = runProgram(['serve', ...where, ...access, ...drain, ...args], folder, options)
  const url = await Promise.race([readyUrl(child), ended.then(() => undefined)])
  if (url === undefined) throw new Error(`The server ended before it was ready: ${output.stderr}`)
  return {
    ...folders,
    ...reachable(url),
    child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    async stop(signal) {
      child.kill(signal)
      return ended
    },
  }
}

/** Starts `agent-server serve` and kills it after a time, ready or not. */
export async function startThenKill(folder: string, afterMs: number): Promise<void> {
  const { dataDir, workspaceDir } = foldersIn(folder)
  const { child, ended } = runProgram(
    ['serve', '--port', '0', '--data-dir', dataDir, '--workspace-dir', workspaceDir], folder,
  )
  setTimeout(() => child.kill('SIGKILL'), afterMs)
  await ended
}

export interface ProgramEnd {
  readonly code: number | string
  readonly stdout: string
  readonly stderr: string
}

/** Runs the built command line to its end. `home` is its HOME, which it gets besides PATH and the named variables. */
export async function runToEnd(
  args: readonly string[],
  home: string,
  environment: NodeJS.ProcessEnv = {},
  user: { readonly uid?: number } = {},
): Promise<ProgramEnd> {
  const { output, ended } = runProgram(args, home, { environment, user })
  const code = await ended
  return { code, ...output }
}

/** The program that behaves as its argument says, as the agent of a conversation. */
export function fakeAgent(behaviour: string): { kind: 'ACPAgent', acp_command: string[] } {
  const program = fileURLToPath(new URL(`../fixtures/acp-agent${extname(import.meta.url)}`, import.meta.url))
  return { kind: 'ACPAgent', acp_command: [process.execPath, program, behaviour] }
}

/** The program that tells and changes its credentials, as if it were Codex. */
export function credentialAgent(needsCredentialAt = ''): object {
  const program = fileURLToPath(new URL(`../fixtures/credential-agent${extname(import.meta.url)}`, import.meta.url))
  return { kind: 'ACPAgent', acp_server: 'codex', acp_command: [process.execPath, program, needsCredentialAt] }
}

interface RunOptions extends Partial<Pick<StartOptions, 'launcher' | 'environment' | 'program'>> {
  readonly user?: { readonly uid?: number }
}

function runProgram(args: readonly string[], home: string, options: RunOptions = {}) {
  const { launcher = [], environment, program = programFile, user } = options
  const env = { PATH: process.env['PATH'], HOME: home, ...environment }
  const [command = '', ...words] = [...launcher, process.execPath, program, ...args]
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: home, ...user })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const ended = once(child, 'close').then(([code, signal]): number | string => code ?? signal)
  return { child, output, ended }
}

async function readyUrl(child: ChildProcess): Promise<string | undefined> {
  if (child.stdout === null) return undefined
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Agent Server listening on (http:\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
  return undefined
}

function foldersIn(folder: string): Folders {
  return { folder, dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') }
}

function reachable(url: string): Reachable {
  const socket = (id: string, query = ''): Promise<Client> =>
    connect(`${url}/sockets/events/${id}${query}`, { 'X-Session-API-Key': key })
  return { url, key, rest: rest(url, key), socket }
}
