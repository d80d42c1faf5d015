/**
 * Many external agents in one process, as a child: each talks through the pipes of a `pipedAgent`.
 *
 * `pipes` makes so many agents and answers with the folder of their pipes. A prompt `paced 250` lets an agent write 250
 * times a piece of text, a tool call and its result, 25 times a second; `stream 250` is the same with a tool call in
 * every tenth piece only. Agents do not move in step: each begins within the first second and writes at some moment of
 * each 40 milliseconds. Those moments are random numbers from a seed, the same in each run. After `once 1` an agent
 * writes a piece of text at once; after `ask 1` it asks whether it may use a tool, and writes when it has the answer.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { answer } from './child.ts'
import { pipesOf } from './piped-agent.ts'
import { answerLine, permissionRequest, textChunk, toolCall, toolEnd, type Talk } from './talk.ts'

const pauseMs = 40
const beginMs = 1000
const folders: string[] = []
const sockets: Socket[] = []

answer({ pipes: (count) => makeAgents(Number(count)) }, async () => {
  for (const socket of sockets) socket.destroy()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

function makeAgents(count: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'bench-pipes-'))
  folders.push(folder)
  for (let agent = 0; agent < count; agent++) {
    const { input, output } = pipesOf(folder, agent)
    execFileSync('mkfifo', ['-m', '600', input, output])
    speak(agent, open(input, 'readable'), open(output, 'writable'))
  }
  return folder
}

/** Opened both ways, a named pipe waits for nobody and does not end with the program at its other end (fifo(7)). */
function open(path: string, way: 'readable' | 'writable'): Socket {
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  try {
    const socket = new Socket({ fd, readable: way === 'readable', writable: way === 'writable' })
    sockets.push(socket)
    return socket
  } catch (thrown) {
    closeSync(fd)
    throw thrown
  }
}

function speak(agent: number, input: Socket, output: Socket): void {
  const random = randomFrom(agent)
  let calls = 0
  let asked = (_id: unknown): void => undefined
  const stream = async (count: number, piecesPerCall: number): Promise<void> => {
    const begin = performance.now() + random() * beginMs
    for (let number = 0; number < count; number++) {
      await sleep(Math.max(0, begin + (number + random()) * pauseMs - performance.now()))
      const isCall = number % piecesPerCall === 0
      if (isCall) calls++
      // One write, which a pipe takes as a whole.
      output.write(isCall ? textChunk() + toolCall(calls) + toolEnd(calls) : textChunk())
    }
  }
  const talk = async ({ kind, count }: Talk): Promise<void> => {
    if (kind === 'ask') {
      output.write(permissionRequest(`ask-${agent}-${calls++}`))
      await new Promise((resolve) => (asked = resolve))
    }
    if (kind === 'paced' || kind === 'stream') await stream(count, kind === 'stream' ? 10 : 1)
    else output.write(textChunk())
  }
  const lines = createInterface({ input })
  lines.on('line', (line) => {
    void answerLine(line, talk, (reply) => void output.write(reply), (id) => asked(id))
  })
}

/** Numbers from 0 to 1: a linear congruential generator with the constants of Numerical Recipes. */
function randomFrom(seed: number): () => number {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  // The first numbers of neighbouring seeds are close to each other.
  for (let skipped = 0; skipped < 8; skipped++) next()
  return next
}
