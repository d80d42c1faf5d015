/** Terminals for tests: on real programs, with a masker and folders of their own. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createMasker } from '../../../../src/base/masking.ts'
import { detectTerminalKind, isTerminalKindUsable, type TerminalKind } from '../../../../src/process/pty.ts'
import { sweepMarked } from '../../../../src/process/sweep.ts'
import {
  Terminal, type TerminalOptions, type TerminalRequest, type TerminalResult,
} from '../../../../src/parts/builtin/workspace/terminal.ts'
import { makeFolder } from '../../../support/processes.ts'

export const instance = `test${randomBytes(6).toString('hex')}`
export const baseEnv = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', LANG: 'C.UTF-8' }

/** The kind that the server would choose here. */
export const bestKind = await detectTerminalKind({ cwd: '/', env: baseEnv, marker: `${instance}/trial` })

/** Whether there is such a terminal on this machine. */
export async function hasKind(kind: TerminalKind): Promise<boolean> {
  return kind === 'pipes' || isTerminalKindUsable(kind, { cwd: '/', env: baseEnv, marker: `${instance}/trial-${kind}` })
}

export interface TestTerminal {
  readonly terminal: Terminal
  readonly workingDir: string
  readonly observationsDir: string
  readonly runtimeDir: string
  readonly errors: unknown[]
  /** Runs a command to its end. */
  run(command: string, more?: Partial<TerminalRequest>): Promise<TerminalResult>
  type(input: string, more?: Partial<TerminalRequest>): Promise<TerminalResult>
}

export interface TestTerminalOptions extends Partial<TerminalOptions> {
  readonly kind?: TerminalKind
  readonly secrets?: readonly string[]
}

/** Opens a terminal for one test; nothing of it is left afterwards. */
export async function withTerminal(
  options: TestTerminalOptions, body: (t: TestTerminal) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  const dirs = {
    workingDir: join(folder, 'work'), observationsDir: join(folder, 'obs'), runtimeDir: join(folder, 'run'),
  }
  for (const dir of [dirs.workingDir, dirs.runtimeDir]) mkdirSync(dir)
  const masker = createMasker()
  masker.register(options.secrets ?? [])
  const errors: unknown[] = []
  const terminal = new Terminal({
    kind: bestKind,
    workingDir: dirs.workingDir,
    observationsDir: dirs.observationsDir,
    makeSecretDir: async () => dirs.runtimeDir,
    env: baseEnv,
    instance,
    createId: randomUUID,
    createMaskingStream: () => masker.stream(),
    onError: (error) => errors.push(error),
    ...options,
  })
  const plain = { isInput: false, reset: false, env: {} }
  const run = (command: string, more: Partial<TerminalRequest> = {}): Promise<TerminalResult> =>
    terminal.run({ ...plain, command, signal: new AbortController().signal, ...more })
  try {
    await body({ terminal, ...dirs, errors, run, type: (input, more) => run(input, { isInput: true, ...more }) })
  } finally {
    await terminal.close()
    remove()
  }
}

/** Presses Ctrl-C as a person does, again if need be: bash loses one that comes while it starts a program. */
export async function pressInterrupt({ type }: Pick<TestTerminal, 'type'>): Promise<TerminalResult> {
  for (let count = 1; ; count++) {
    const result = await type('C-c', { timeoutMs: 5000 })
    if (result.exitCode !== -1 || count === 6) return result
  }
}

export async function sweep(): Promise<void> {
  await sweepMarked({ instance })
}
