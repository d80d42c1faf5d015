/**
 * The built server as its users have it: a program of its own on temporary folders, asked over REST and WebSockets. A
 * probe in it watches its event loop (probe.ts).
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject } from '../../../src/base/json.ts'
import { serverProgram } from '../../real/built-server.ts'
import { besideThis, childOf, collected, type Child } from '../child.ts'
import type { Stall } from '../gate.ts'
import { openSocket, receiveUntil } from '../sockets.ts'
import { httpClient, type HttpClient } from './client.ts'

const key = 'a-key-that-only-this-benchmark-uses'
/** How long garbage of the start is collected (bench/collected); figures are taken after it. */
const settledMs = 1600

export interface UserServer extends HttpClient {
  readonly child: Child
  readonly port: number
  readonly key: string
  readonly folder: string
  readonly pid: number
  /** Watches the event loop while the work is done. */
  watched<T>(work: () => Promise<T>): Promise<{ readonly done: T; readonly stall: Stall }>
  /** Sends SIGTERM and resolves when the program has ended. */
  stop(): Promise<void>
}

/** Starts a server on new folders, and removes them with it. */
export async function withServer<T>(
  args: readonly string[], use: (server: UserServer) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    const server = await startServer(folder, args)
    try {
      return await use(server)
    } finally {
      await server.stop()
    }
  })
}

export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-users-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Where a server on this folder keeps its data, and the workspaces. */
export function placesIn(folder: string): { readonly data: string; readonly workspace: string } {
  return { data: join(folder, 'data'), workspace: join(folder, 'workspace') }
}

export async function startServer(folder: string, args: readonly string[] = []): Promise<UserServer> {
  const { data, workspace } = placesIn(folder)
  const where = ['--port', '0', '--data-dir', data, '--workspace-dir', workspace]
  const program = fork(serverProgram, ['serve', ...where, '--session-api-key', key, '--log-level', 'error', ...args], {
    execArgv: [...collected, '--import', besideThis('users/probe').href],
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: tmpdir() },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  const child = childOf(program, 'the server')
  const begin = performance.now()
  const port = await portOf(program.stdout ?? [])
  await new Promise((resolve) => setTimeout(resolve, settledMs - (performance.now() - begin)))
  const client = httpClient(port, key)
  return {
    ...client, child, port, key, folder, pid: program.pid ?? 0,
    async watched(work) {
      await child.ask('watch')
      const done = await work()
      return { done, stall: asStall(await child.ask('stall')) }
    },
    async stop() {
      client.close()
      if (program.exitCode !== null || program.signalCode !== null) return
      const ended = once(program, 'exit')
      program.kill('SIGTERM')
      await ended
    },
  }
}

async function portOf(output: AsyncIterable<unknown> | readonly unknown[]): Promise<number> {
  let text = ''
  for await (const chunk of output) {
    text += String(chunk)
    const [, port] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text) ?? []
    if (port !== undefined) return Number(port)
  }
  throw new Error(`The server ended before it listened: ${text}`)
}

function asStall(value: unknown): Stall {
  if (!isObject(value)) throw new TypeError('Expected a stall')
  return { stallMs: Number(value['stallMs']), busyMs: Number(value['busyMs']) }
}

/** Makes a conversation and returns its id. Without a command its agent is the server's own. */
export async function createConversation(
  server: HttpClient, acpCommand?: readonly string[], more: object = {},
): Promise<string> {
  const agent = acpCommand === undefined ? {} : {
    agent: { kind: 'ACPAgent', acp_server: 'custom', acp_command: acpCommand },
  }
  const made = JSON.parse(await server.call('POST', '/api/conversations', { autotitle: false, ...agent, ...more }))
  return String(Object(made).id)
}

/** A socket that follows a conversation; its first frame, the state, has come. */
export async function follow({ port, key: ofServer }: UserServer, id: string): Promise<Socket> {
  const socket = await openSocket({ port, key: ofServer, path: `/sockets/events/${id}` })
  await receiveUntil(socket, (text) => text.includes('full_state'))
  return socket
}
