/**
 * Runs the command of a hook with `/bin/sh` in a new process group, and writes the hook's input to stdin.
 *
 * When `runCommand` has settled, all processes of the command that process/child can find have ended, except after the
 * error `agent_failed`.
 */
import { messageOf } from '../../base/errors.ts'
import { untilAborted, within } from '../../base/wait.ts'
import type { Child, ChildExit, ChildOptions } from '../../process/child.ts'
import { collectOutput } from '../../process/output.ts'

export interface CommandOptions {
  readonly command: string
  readonly cwd: string
  /** The complete environment of the command. */
  readonly env: Readonly<Record<string, string>>
  readonly marker: string
  readonly input: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly startProcess: (options: ChildOptions) => Promise<Child>
}

export type CommandEnd =
  | { readonly end: 'exited'; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  /** The command was not started, or was ended by a signal, the time limit or the limit of its output. */
  | { readonly end: 'failed'; readonly problem: string }

/** The most bytes on stdout. A command that prints more is ended. */
const outputLimitBytes = 1024 * 1024
/** The longest wait, in milliseconds, from the shell's exit to the end of stdout: a process may keep the pipe open. */
const drainLimitMs = 200
const atOnce = AbortSignal.abort()

/** Runs a command to its end. @throws the signal's reason; AppError `agent_failed` when a process cannot be killed */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, cwd, env, marker, input, timeoutMs, signal, startProcess } = options
  signal.throwIfAborted()
  const started = await tryStart(() => startProcess({ command: '/bin/sh', args: ['-c', command], cwd, env, marker }))
  if (typeof started === 'string') return failed(started)
  const output = collectOutput(started.stdout, outputLimitBytes)
  try {
    started.stdin.end(input)
    const exit = await within(untilAborted(Promise.race([started.exited, output.overflow]), signal), timeoutMs)
    if (exit === 'late') return failed(`it did not end within ${timeoutMs} ms`)
    if (exit === undefined) return failed(`it printed more than ${outputLimitBytes} bytes`)
    await within(output.ended, drainLimitMs)
    await started.stop({ signal: atOnce })
    return endOf(exit, output.bytes().toString(), started.stderrTail())
  } finally {
    await started.stop({ signal: atOnce })
  }
}

async function tryStart(start: () => Promise<Child>): Promise<Child | string> {
  try {
    return await start()
  } catch (thrown) {
    return messageOf(thrown)
  }
}

function endOf({ code, signal }: ChildExit, stdout: string, stderr: string): CommandEnd {
  return code === null ? failed(`it was ended by ${signal}`) : { end: 'exited', exitCode: code, stdout, stderr }
}

function failed(problem: string): CommandEnd {
  return { end: 'failed', problem }
}
