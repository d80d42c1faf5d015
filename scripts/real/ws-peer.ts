/**
 * Programs of other libraries at the other end: their clients with our cases, and their servers.
 *
 * The files of `ws-peers/` are copied beside the packages that they import, outside the tree, and run there.
 */
import { spawn } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { memberAt } from './member.ts'

export interface Peer {
  readonly name: string
  /** The command without its file. */
  readonly command: readonly string[]
  readonly client?: string
  readonly server?: string
  /** Whether it offers compression when it is told to. */
  readonly offers: 'never' | 'as told'
  /** The close codes that it takes, and the close codes that it sends. */
  readonly takes: readonly number[]
  readonly sends: readonly number[]
}

/** The steps of a client, with the name of the case. */
export type Case = Readonly<Record<string, unknown>> & { readonly name: string }

export interface Outcome {
  readonly name: string
  readonly isRight: boolean
  readonly skipped: boolean
  readonly seen: string
}

/** Not compiled: they stand beside the source of this file, wherever that runs. */
const sources = fileURLToPath(new URL('../../../scripts/real/ws-peers', import.meta.url))

export const copyPeers = (folder: string): Promise<void> => cp(sources, folder, { recursive: true })

/** Runs a client to its end. */
export async function runClient(
  folder: string,
  peer: Peer,
  given: { readonly url: string; readonly deflate: boolean; readonly cases: readonly Case[] },
): Promise<Outcome[]> {
  const [program = '', ...args] = peer.command
  const child = spawn(program, [...args, join(folder, peer.client ?? ''), JSON.stringify(given)], {
    cwd: folder, stdio: ['ignore', 'pipe', 'inherit'],
  })
  const outcomes: Outcome[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const found: unknown = JSON.parse(line)
    const [name, seen] = [String(memberAt(found, 'name')), String(memberAt(found, 'seen'))]
    outcomes.push({
      name, seen, isRight: memberAt(found, 'isRight') === true, skipped: memberAt(found, 'skipped') === true,
    })
  }
  const told = new Set(outcomes.map(({ name }) => name))
  const missing = given.cases.filter(({ name }) => !told.has(name))
  return [
    ...outcomes,
    ...missing.map(({ name }) => ({ name, isRight: false, skipped: false, seen: 'the client ended before it' })),
  ]
}

/** Runs a body beside a server of a peer. */
export async function withServerOf(folder: string, peer: Peer, body: (port: number) => Promise<void>): Promise<void> {
  const [program = '', ...args] = peer.command
  const child = spawn(program, [...args, join(folder, peer.server ?? '')], {
    cwd: folder, stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const port = await new Promise<number>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', (line) => resolve(Number(line)))
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`The server of ${peer.name} ended with ${code}`)))
    })
    await body(port)
  } finally {
    child.kill('SIGKILL')
  }
}
