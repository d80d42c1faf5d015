/**
 * One bash on a terminal, or on pipes where no terminal can be made. It runs one command at a time.
 *
 * A shell takes commands and input, and passes on its output as plain text. A report file and a mark in the output show
 * that a command has ended (shell-script.ts).
 */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:os'
import { StringDecoder } from 'node:string_decoder'
import { AppError } from '../../../base/errors.ts'
import { makeNewFolder, removeFile, removeTree, writeLoosely } from '../../../base/own-files.ts'
import { isThere, readFile } from '../../../base/read-files.ts'
import { deferred, within } from '../../../base/wait.ts'
import type { Child, ChildExit } from '../../../process/child.ts'
import type { ProcessEntry } from '../../../process/proc.ts'
import { interruptTerminal, startOnTerminal, type TerminalKind } from '../../../process/pty.ts'
import {
  bashLine, commandScript, markPrefix, parseReport, promptScript, quote, shellFiles, startScript, statusIn,
  type ShellReport,
} from './shell-script.ts'
import { createTerminalText } from './terminal-text.ts'

export interface ShellOptions {
  readonly kind: TerminalKind
  readonly workingDir: string
  /** The path of the shell's private folder. `startShell` makes it in an existing folder; `stop` removes it. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly marker: string
  readonly cgroupParent?: string | undefined
  /** Handles the next output. The shell reads no more output until the promise resolves. */
  readonly onOutput: (text: string) => Promise<void>
}

export type CommandEnd =
  | { readonly end: 'reported'; readonly report: ShellReport }
  /** The shell itself has exited. */
  | { readonly end: 'exited'; readonly exitCode: number }

const startLimitMs = 20_000
/** The interval between two looks for the report file of a command whose end mark has not arrived. */
const lookIntervalMs = 500
/** The longest wait for remaining output after the shell has exited. */
const drainLimitMs = 1000
const killLimitMs = 2000
const stopGraceMs = 200

/**
 * Starts a shell, and waits until the shell accepts commands.
 * @throws AppError `agent_failed` when bash does not start; the error of a failed write
 */
export async function startShell(options: ShellOptions): Promise<Shell> {
  const { kind, folder, workingDir: cwd, env, marker, cgroupParent } = options
  const nonce = randomUUID()
  const files = shellFiles(folder)
  await makeNewFolder(folder)
  await writeLoosely(files.prompt, promptScript(folder, kind !== 'pipes'))
  await writeLoosely(files.command, startScript(folder, nonce))
  const child = await startOnTerminal({ kind, line: bashLine, cwd, env, marker, cgroupParent })
  const shell = new Shell(child, nonce, options)
  const end = performance.now() + startLimitMs
  while (performance.now() < end) {
    const ended = await shell.nextChange(lookIntervalMs)
    if (ended?.end === 'reported') return shell
    if (ended !== undefined) {
      await shell.stop()
      throw new AppError(
        'agent_failed', `Cannot start bash on a terminal (${kind}): it ended with exit code ${ended.exitCode}`,
      )
    }
  }
  await shell.stop()
  throw new AppError(
    'agent_failed', `Cannot start bash on a terminal (${kind}): it did not answer within ${startLimitMs} ms`,
  )
}

export class Shell {
  readonly #options: ShellOptions
  readonly #child: Child
  readonly #text = createTerminalText({ markPrefix })
  readonly #reading: Promise<void>
  /** The random word that identifies the running command or the start script; undefined at the prompt. */
  #nonce: string | undefined
  /** The exit status of the newest command, from its end mark in the output; undefined before the mark arrives. */
  #status: number | undefined
  #isReady = false
  /** The last known working directory. */
  #workingDir: string
  #exit: ChildExit | undefined
  #changed = deferred<void>()
  #before: ProcessEntry[] | undefined
  #lastOutputAt = performance.now()
  #stopping: Promise<void> | undefined

  /** Only `startShell` calls this constructor. */
  constructor(child: Child, nonce: string, options: ShellOptions) {
    this.#child = child
    this.#nonce = nonce
    this.#options = options
    this.#workingDir = options.workingDir
    this.#reading = this.#read().catch(() => undefined) // `child.exited` reports the end of the shell.
    void child.exited.then((exit) => {
      this.#exit = exit
      this.#wake()
    })
    this.#typeSource()
  }

  get isBusy(): boolean {
    return this.#nonce !== undefined
  }

  /** Tells whether the shell runs and its private folder exists. The system may remove the folder at a logout. */
  async isUsable(): Promise<boolean> {
    return !this.hasExited && await isThere(shellFiles(this.#options.folder).prompt)
  }

  get hasExited(): boolean {
    return this.#exit !== undefined
  }

  /** The time of the last output, input or start of a command, as `performance.now()` gives it. */
  get lastOutputAt(): number {
    return this.#lastOutputAt
  }

  /** Records the current processes of the shell. `killStarted` spares these processes. */
  async markStart(): Promise<void> {
    this.#before = await this.#child.processes()
  }

  /** Starts a command. Exports the variables `env` for it, except names that `commandScript` refuses. */
  async begin(command: string, env: Readonly<Record<string, string>>): Promise<void> {
    const { folder } = this.#options
    const nonce = randomUUID()
    if (this.#before === undefined) await this.markStart()
    await writeLoosely(shellFiles(folder).command, commandScript({ folder, nonce, command, env }))
    this.#nonce = nonce
    this.#status = undefined
    this.#lastOutputAt = performance.now()
    this.#typeSource()
  }

  /** Types input for the running program. */
  type(input: string): void {
    this.#lastOutputAt = performance.now()
    this.#child.stdin.write(input)
  }

  /** Interrupts the running program as Ctrl-C does. */
  interrupt(): void {
    this.#lastOutputAt = performance.now()
    interruptTerminal(this.#options.kind, this.#child)
  }

  /**
   * Waits for output, the exit of the shell or `wake`, at most the shorter of `limitMs` and `lookIntervalMs`. Does not
   * wait if the end is known already. Returns how the command or the shell ended; undefined while the end is not known.
   */
  async nextChange(limitMs: number): Promise<CommandEnd | undefined> {
    this.#changed = deferred()
    const early = await this.#commandEnd(false)
    if (early !== undefined) return early
    const waitMs = Math.min(limitMs, lookIntervalMs)
    const isLate = await within(this.#changed.promise, waitMs) === 'late'
    // Output may arrive after the report file is there. So before the end mark, read it only after a silent interval.
    return this.#commandEnd(isLate && waitMs === lookIntervalMs)
  }

  /** Makes a waiting `nextChange` return. */
  wake(): void {
    this.#wake()
  }

  /** Returns the unfinished line of output, which was not passed to `onOutput` yet. Begins an empty line. */
  takeLine(): string {
    return this.#text.takeLine()
  }

  /**
   * Kills the processes of the shell that the last `markStart` did not record. Returns false when a process survives.
   * Kills none and returns false when `markStart` was never called or /proc is missing.
   */
  async killStarted(): Promise<boolean> {
    if (this.#before === undefined) return false
    const left = await this.#child.killAllBut(this.#before, { limitMs: killLimitMs })
    return left.length === 0
  }

  /** Ends the shell with all its processes, and removes its folder. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    try {
      await this.#child.stop({ graceMs: stopGraceMs })
      await this.#reading
    } finally {
      await removeTree(this.#options.folder)
    }
  }

  #typeSource(): void {
    this.#child.stdin.write(`. ${quote(shellFiles(this.#options.folder).command)}\n`)
  }

  #wake(): void {
    this.#changed.resolve()
  }

  async #commandEnd(look: boolean): Promise<CommandEnd | undefined> {
    if (this.#nonce !== undefined && (this.#status !== undefined || look || this.hasExited)) {
      const report = (await this.#readReport(this.#nonce)) ?? this.#reportInMark()
      if (report !== undefined) return { end: 'reported', report: await this.#settle(report) }
    }
    if (this.#exit === undefined) return undefined
    await within(this.#reading, drainLimitMs)
    return { end: 'exited', exitCode: exitCodeOf(this.#exit) }
  }

  async #settle(report: ShellReport): Promise<ShellReport> {
    const { command, report: reportFile } = shellFiles(this.#options.folder)
    const nonce = this.#nonce
    this.#nonce = undefined
    if (!this.#isReady) this.#text.takeLine()
    this.#isReady = true
    this.#workingDir = report.workingDir
    // The command file may hold secrets.
    await removeFile(command)
    if (nonce !== undefined) await removeFile(reportFile(nonce))
    return report
  }

  async #readReport(nonce: string): Promise<ShellReport | undefined> {
    // An unreadable file gives no report: the caller then makes a report from the end mark (`#reportInMark`).
    const text = await readFile(shellFiles(this.#options.folder).report(nonce), 'utf8').catch(() => '')
    return parseReport(text)
  }

  /** Makes a report from the command's end mark, in place of an unreadable report file; undefined before the mark. */
  #reportInMark(): ShellReport | undefined {
    if (this.#status === undefined) return undefined
    return { exitCode: this.#status, pid: -1, workingDir: this.#workingDir, python: '', username: '' }
  }

  async #read(): Promise<void> {
    const decoder = new StringDecoder('utf8')
    for await (const chunk of this.#child.stdout) {
      const { text, marks } = this.#text.push(decoder.write(chunk))
      this.#lastOutputAt = performance.now()
      // Drop output before the first prompt: it comes from the start of bash.
      if (this.#isReady) await this.#options.onOutput(text)
      for (const mark of marks) if (this.#nonce !== undefined) this.#status ??= statusIn(mark, this.#nonce)
      this.#wake()
    }
  }
}

/** Returns the exit code as shells report it: 128 plus the signal's number after a signal. */
function exitCodeOf({ code, signal }: ChildExit): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
}
