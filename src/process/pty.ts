/**
 * Starts a shell on a pseudo-terminal, which Node cannot open by itself.
 *
 * The shell runs under `script` of util-linux or Python's `pty` module, or without a terminal over plain pipes. Over
 * pipes there is no job control.
 */
import { within } from '../base/wait.ts'
import { startChild, type Child, type ChildOptions } from './child.ts'

export type TerminalKind = 'script' | 'python' | 'pipes'

export interface TerminalProgram extends Pick<ChildOptions, 'cwd' | 'env' | 'marker' | 'cgroupParent'> {
  readonly kind: TerminalKind
  /** A command line for sh(1). With `exec` in front, no shell stays between the terminal and the program. */
  readonly line: string
}

/** Options of a trial: a short program that shows whether a `TerminalKind` works on this machine. */
type Trial = Omit<TerminalProgram, 'kind' | 'line'>

/** Time limit of a trial, in milliseconds. */
const trialLimitMs = 10_000
const trialAnswer = 'on-a-terminal'

/**
 * A Python program that copies between the server's pipes and the terminal. Its exit code is the exit code of the
 * program on the terminal, or 128 plus the number of the signal that ended that program, as with a shell.
 */
const pythonProgram = [
  'import os, pty, signal, sys',
  // Without this line, programs inherit from Python that SIGPIPE is ignored: `yes | head` would not end.
  'signal.signal(signal.SIGPIPE, signal.SIG_DFL)',
  'status = pty.spawn(sys.argv[1:])',
  'sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))',
].join('\n')

/**
 * Starts a line of sh(1) on a terminal, or over pipes for the kind `pipes`.
 * @throws AppError `agent_failed` when the program cannot be started.
 */
export function startOnTerminal(program: TerminalProgram): Promise<Child> {
  const { kind, line, cwd, env, marker, cgroupParent } = program
  // script(1) runs its command with $SHELL.
  return startChild({ ...commandOf(kind, line), cwd, env: { ...env, SHELL: '/bin/sh' }, marker, cgroupParent })
}

/** Sends Ctrl-C: a byte to a terminal; over pipes, SIGINT to the process group. */
export function interruptTerminal(kind: TerminalKind, child: Child): void {
  if (kind !== 'pipes') child.stdin.write('\x03')
  else child.signalGroup('SIGINT')
}

/** Returns the first of `script` and `python` that works here; otherwise `pipes`. */
export async function detectTerminalKind(options: Trial): Promise<TerminalKind> {
  for (const kind of ['script', 'python'] as const) {
    if (await isTerminalKindUsable(kind, options)) return kind
  }
  return 'pipes'
}

/** Runs `test -t 0` on a terminal of this kind. True if the test finds that its standard input is a terminal. */
export async function isTerminalKindUsable(kind: TerminalKind, options: Trial): Promise<boolean> {
  try {
    const child = await startOnTerminal({ ...options, kind, line: `test -t 0 && echo ${trialAnswer}` })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('latin1')).slice(-1000)
    })
    const ended = new Promise<void>((resolve) => child.stdout.once('close', () => resolve()))
    await within(Promise.all([child.exited, ended]), trialLimitMs)
    await child.stop({ graceMs: 0 })
    return output.includes(trialAnswer)
  } catch {
    return false // This kind does not work here.
  }
}

function commandOf(kind: TerminalKind, line: string): { command: string; args: readonly string[] } {
  switch (kind) {
    case 'script':
      return { command: 'script', args: ['-qfec', line, '/dev/null'] }
    case 'python':
      return { command: 'python3', args: ['-c', pythonProgram, 'sh', '-c', line] }
    case 'pipes':
      return { command: 'sh', args: ['-c', `exec 2>&1\n${line}`] }
  }
}
