/**
 * Runs one shell command of the demonstration agent and reports how it ended.
 *
 * The command has its own process group, which is killed after ten minutes or when the prompt is cancelled. Output
 * after 1,048,576 characters is left out.
 */
import { spawn } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'

export interface CommandOptions {
  readonly command: string
  readonly cwd: string
  readonly signal: AbortSignal
  readonly onOutput: (text: string) => void
}

export interface CommandEnd {
  /** Null when a signal ended the command, or it was not started. */
  readonly exitCode: number | null
  readonly signal: string | null
  /** The result in words, such as `exit code 0`. */
  readonly words: string
}

export type RunCommand = (options: CommandOptions) => Promise<CommandEnd>

const outputLimitChars = 1024 * 1024
const timeLimitMs = 10 * 60 * 1000

export const runCommand: RunCommand = async ({ command, cwd, signal, onOutput }) => {
  if (signal.aborted) return { exitCode: null, signal: null, words: 'not started: the prompt is cancelled' }
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const kill = (): void => killGroup(child.pid)
    const timer = setTimeout(kill, timeLimitMs)
    signal.addEventListener('abort', kill, { once: true })
    const end = (result: CommandEnd): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', kill)
      resolve(result)
    }
    const forward = limited(onOutput)
    for (const stream of [child.stdout, child.stderr]) {
      const decoder = new StringDecoder('utf8')
      stream.on('data', (chunk: Buffer) => forward(decoder.write(chunk)))
    }
    child.on('error', (error) => end({ exitCode: null, signal: null, words: error.message }))
    child.on('close', (exitCode, name) => end({ exitCode, signal: name, words: wordsFor(exitCode, name) }))
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All processes of the group have already ended.
  }
}

function limited(onOutput: (text: string) => void): (text: string) => void {
  let room = outputLimitChars
  return (text) => {
    if (room < 0) return
    onOutput(text.length <= room ? text : `${text.slice(0, room)}\n[the rest of the output is left out]\n`)
    room -= text.length
  }
}

function wordsFor(exitCode: number | null, signal: string | null): string {
  return exitCode === null ? `ended by ${signal ?? 'an unknown signal'}` : `exit code ${exitCode}`
}
