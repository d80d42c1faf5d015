/**
 * Runs one program to its end or its deadline and returns its output.
 *
 * It gets a process group of its own. Every group that is alive is known here, so that a signal to the runner can end
 * them all at once.
 */
import { spawn } from 'node:child_process'

export interface CommandOptions {
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  readonly limitMs: number
}

export interface CommandEnd {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly output: string
  /** True when it was still alive at its deadline and was killed. */
  readonly isLate: boolean
  readonly ms: number
}

/** How much of the end of an output is kept. */
const outputLimitChars = 100_000
const groups = new Set<number>()

/** Runs Node with these arguments. */
export function runNode(args: readonly string[], { folder, env = {}, limitMs }: CommandOptions): Promise<CommandEnd> {
  const start = Date.now()
  const child = spawn(process.execPath, args, {
    cwd: folder, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
  })
  const { pid } = child
  if (pid !== undefined) groups.add(pid)
  let output = ''
  const gather = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-outputLimitChars))
  child.stdout.on('data', gather)
  child.stderr.on('data', gather)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    killGroup(pid)
  }, limitMs)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    // Not `close`: a program that it started may hold its output open.
    child.once('exit', (code) => {
      clearTimeout(timer)
      killGroup(pid)
      setImmediate(() => resolve({ code, output, isLate, ms: Date.now() - start }))
    })
  })
}

/** Ends every program that is running, at once. */
export function killCommands(): void {
  for (const pid of groups) killGroup(pid)
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined || !groups.delete(pid)) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing of the group is left.
  }
}
