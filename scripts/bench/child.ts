/**
 * A program that runs beside this one, so that its cost is measured apart from the cost of the load on it.
 *
 * Questions and answers go over the channel of `fork`, one at a time. Every child answers how much processor time it
 * has used and how much memory it occupies; the rest is its own. It ends with its parent.
 */
import { fork, type ChildProcess, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:net'
import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../src/base/json.ts'
import type { Cost } from './rounds.ts'

export interface Child {
  /** Rejects with the child's message when the child cannot answer. */
  ask(question: string, argument?: unknown): Promise<unknown>
  /** Measures the cost of work that the child does. `work` may ask for it through a socket. */
  measure(work: () => Promise<unknown>): Promise<Cost>
  stop(): Promise<void>
}

/** Starts the program of this name in this folder, with the arguments of Node that this program has (`--cpu-prof`). */
export function startChild(program: string, args: readonly string[] = []): Child {
  return startProgram(fileURLToPath(besideThis(program)), { args })
}

/** Returns the address of a module beside this file, with the ending of this file: `.js` when built, `.ts` else. */
export function besideThis(name: string): URL {
  return new URL(name + /\.\w+$/.exec(import.meta.url)?.[0], import.meta.url)
}

export interface ProgramOptions {
  readonly args?: readonly string[]
  /** The path of another Node than the Node that runs this process. */
  readonly execPath?: string
}

/** Starts a program that ends in `answer`. */
export function startProgram(path: string, { args = [], execPath = process.execPath }: ProgramOptions): Child {
  const program = basename(path)
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', 'ipc']
  const execArgv = [...process.execArgv, ...collected]
  const child = fork(path, [...args], { serialization: 'advanced', execPath, execArgv, stdio })
  return childOf(child, program)
}

/** Arguments of Node for a program that has been through collections. */
export const collected: readonly string[] = ['--expose-gc', '--import', besideThis('collected').href]

/** A process that has been forked with `serialization: 'advanced'`; `program` is its name in errors. */
export function childOf(child: ChildProcess, program: string): Child {
  // An answer, or the end of the child, settles the question that is open.
  let settle: (message: unknown) => void = () => undefined
  child.on('message', (message) => settle(message))
  child.on('exit', () => settle({ error: 'it has ended' }))
  const ask = async (question: string, argument?: unknown): Promise<unknown> => {
    const answered = new Promise<unknown>((resolve) => (settle = resolve))
    child.send({ question, argument })
    const message = await answered
    if (isObject(message) && message['error'] === undefined) return message['value']
    throw new Error(`Could not ask ${program} "${question}": ${String(isObject(message) ? message['error'] : message)}`)
  }
  return {
    ask,
    async measure(work) {
      const sleep = stayAwake()
      try {
        const cpuBefore = Number(await ask('cpu'))
        const begin = performance.now()
        await work()
        const elapsedMs = performance.now() - begin
        return { elapsedMs, cpuMs: Number(await ask('cpu')) - cpuBefore }
      } finally {
        sleep()
      }
    },
    async stop() {
      if (!child.connected) return
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/**
 * Keeps the event loop of this process turning. To wake a process that sleeps costs time of the process that sends to
 * it. The slower a child is, the more this process would sleep, and the cost would count against the child.
 */
function stayAwake(): () => void {
  let next = setImmediate(function turn() {
    next = setImmediate(turn)
  })
  return () => clearImmediate(next)
}

export type Answers = Readonly<Record<string, (argument: unknown) => unknown>>

/** For the child: answers questions until the parent has gone, then cleans up. */
export function answer(answers: Answers, end: () => unknown): void {
  const all: Answers = { ...answers, cpu, resident }
  const reply = async (message: unknown): Promise<void> => {
    if (!isObject(message)) throw new TypeError('Expected a question')
    const value = await all[String(message['question'])]?.(message['argument'])
    process.send?.({ value })
  }
  process.on('message', (message) => {
    reply(message).catch((thrown: unknown) => process.send?.({ error: String(thrown) }))
  })
  process.once('disconnect', () => void end())
}

function cpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const rests = 8
const restMs = 100
const collections = 4

/**
 * Resident bytes when no more is given back. One collection empties a few sparse pages only, and V8 lets the space for
 * new objects, which belongs to the process, shrink when several of them found nothing to do.
 */
async function resident(): Promise<number> {
  for (let left = rests; left > 0; left--) {
    for (let count = 0; count < collections; count++) globalThis.gc?.()
    await setTimeout(restMs)
  }
  return process.memoryUsage.rss()
}

/** @throws TypeError when a question came without the bytes that it needs. */
export function asBytes(argument: unknown): Buffer<ArrayBuffer> {
  if (!(argument instanceof Uint8Array)) throw new TypeError('Expected bytes')
  return Buffer.from(argument)
}

/** So many things at once, in each of so many turns of the event loop. */
export interface Stream {
  readonly size: number
  readonly turns: number
}

/** @throws TypeError when a question came without its stream. */
export function asStream(argument: unknown): Stream {
  if (!isObject(argument)) throw new TypeError('Expected a stream')
  return { size: Number(argument['size']), turns: Number(argument['turns']) }
}

export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('The server does not listen')
  return address.port
}
