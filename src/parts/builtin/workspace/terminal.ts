/**
 * The terminal of a conversation: commands, input for the one that runs, and what came out of it.
 *
 * One bash keeps folder, variables, functions and jobs from command to command. It starts with the first command and is
 * replaced when it has ended; calls are served one after the other. A call returns when its command has ended, when
 * nothing new has come for a while, or when its time is over; in the last two cases the program goes on, and later calls
 * read on, type or press keys. Calls with the same signal belong together, as those of one turn: an aborted call ends
 * what all of them have started before it rejects, jobs in the background too, with the shell if need be (decisions
 * 16). Secrets are hidden by the caller's stream before anything is kept.
 */
import { join } from 'node:path'
import type { MaskingStream } from '../../../base/masking.ts'
import type { TerminalKind } from '../../../process/pty.ts'
import { keyBytes } from './keys.ts'
import type { ShellReport } from './shell-script.ts'
import { startShell, type CommandEnd, type Shell } from './shell.ts'
import { TerminalOutput } from './terminal-output.ts'

export interface TerminalOptions {
  readonly kind: TerminalKind
  readonly workingDir: string
  /** For whole outputs that are too long to be given. */
  readonly observationsDir: string
  /** Gives a private folder for secrets in plain, which is there then; each shell gets a folder in it. */
  readonly makeSecretDir: () => Promise<string>
  /** The whole environment of the shell: see process/environment. */
  readonly env: Readonly<Record<string, string>>
  /** Instance id of the data folder, for the marker of the processes. */
  readonly instance: string
  readonly cgroupParent?: string | undefined
  /** Makes ids that are used once. */
  readonly createId: () => string
  readonly createMaskingStream: () => MaskingStream
  /** Told of a file that could not be written. */
  readonly onError: (error: unknown) => void
  /** How long a program may be silent before a call without a time of its own returns. Default 30 s. */
  readonly idleMs?: number
  /** How long such a call may take although the program prints. Default 10 min. */
  readonly callLimitMs?: number
  /** Default 30,000. */
  readonly outputLimitChars?: number
  /** How much of one output is kept in a file. Default 64 MiB. */
  readonly fileLimitBytes?: number
}

export interface TerminalRequest {
  /** A command; with `isInput` a text or the name of a key; empty to read on. */
  readonly command: string
  readonly isInput: boolean
  /** After this time the call returns, and the program goes on. */
  readonly timeoutMs?: number | undefined
  /** Starts the shell anew before anything else. */
  readonly reset: boolean
  /** Exported for this command only. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export interface TerminalResult {
  readonly output: string
  /** What happened, for the model. */
  readonly note: string
  /** -1 while a program runs; absent when nothing was run. */
  readonly exitCode?: number
  readonly isTimeout: boolean
  /** Nothing was done of what was asked. */
  readonly isRefused: boolean
  /** Where the whole output is, if it was cut. */
  readonly file?: string
  /** Of the shell when the last command had ended. */
  readonly report?: ShellReport
}

/** How long Ctrl-C may take to end a command. */
const interruptGraceMs = 500
/** How long the prompt may take after everything was killed. */
const promptLimitMs = 3000
/** Below what a terminal holds for a program that does not read (4,096 bytes), or the shell could not be reached. */
const inputLimitBytes = 2000

type Outcome = Omit<TerminalResult, 'output' | 'file' | 'isTimeout' | 'isRefused'>
  & Partial<Pick<TerminalResult, 'isTimeout' | 'isRefused'>>

export class Terminal {
  readonly #options: TerminalOptions
  readonly #output: TerminalOutput
  readonly #masking: MaskingStream
  #shell: Shell | undefined
  #last: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined
  #report: ShellReport | undefined
  /** Of the calls that belong together now. */
  #signal: AbortSignal | undefined

  constructor(options: TerminalOptions) {
    const { observationsDir: folder, createId, onError, outputLimitChars, fileLimitBytes } = options
    this.#options = options
    this.#masking = options.createMaskingStream()
    this.#output = new TerminalOutput({
      folder, createId, onError, limitChars: outputLimitChars ?? 30_000, fileLimitBytes: fileLimitBytes ?? 64 * 2 ** 20,
    })
  }

  /**
   * Serves one call, after those before it.
   * @throws the signal's reason; AppError `agent_failed` when no shell can be started or one cannot be ended.
   */
  run(request: TerminalRequest): Promise<TerminalResult> {
    const result = this.#last.then(() => this.#run(request))
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Ends the shell and all it started; a call that is being served returns, later ones reject. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#shell?.stop()
    await this.#last
    await this.#reset()
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new TypeError('The terminal is closed')
  }

  async #run(request: TerminalRequest): Promise<TerminalResult> {
    request.signal.throwIfAborted()
    this.#assertOpen()
    if (request.reset) await this.#reset()
    const outcome = await this.#serve(request)
    const { text, file } = await this.#takeOutput()
    return {
      isTimeout: false,
      isRefused: false,
      ...outcome,
      output: text,
      ...(file === undefined ? {} : { file }),
      ...(this.#report === undefined ? {} : { report: this.#report }),
    }
  }

  async #serve(request: TerminalRequest): Promise<Outcome> {
    const { command, isInput, reset } = request
    const shell = this.#shell
    if (shell?.isBusy) return this.#serveBusy(shell, request)
    if (isInput) return refuse('No command is running, so nothing was typed. Run a command with is_input false.')
    if (command.trim() !== '') return this.#execute(request)
    if (reset) return { note: `The shell was started anew in ${this.#options.workingDir}.`, exitCode: 0 }
    return refuse('No command is running: there is no more output to read than is shown here.')
  }

  async #serveBusy(shell: Shell, request: TerminalRequest): Promise<Outcome> {
    const { command, isInput } = request
    if (!isInput && command.trim() !== '') {
      return { ...refuse(`This command was NOT run, because the one before is still running. ${howToGoOn}`), exitCode: -1 }
    }
    if (isInput && command !== '') {
      const problem = this.#type(shell, command)
      if (problem !== undefined) return { ...refuse(problem), exitCode: -1 }
    }
    return this.#follow(shell, request)
  }

  #type(shell: Shell, command: string): string | undefined {
    const hasTerminal = this.#options.kind !== 'pipes'
    const key = keyBytes(command)
    if (key === '\x03') shell.interrupt()
    else if (key !== undefined && !hasTerminal && command !== 'ENTER') {
      return `There is no pseudo-terminal on this machine, so "${command}" cannot be pressed; C-c can.`
    } else {
      const input = key ?? `${command}\n`
      if (Buffer.byteLength(input) > inputLimitBytes) {
        return `Nothing was typed: expected at most ${inputLimitBytes} bytes of input. Write a file and let the program read that.`
      }
      // The key Enter sends a carriage return, which the terminal makes a newline for all who want one.
      shell.type(hasTerminal ? input.replaceAll('\n', '\r') : input.replaceAll('\r', '\n'))
    }
    return undefined
  }

  async #execute(request: TerminalRequest): Promise<Outcome> {
    const hadEnded = (await this.#shell?.isUsable()) === false
    if (hadEnded) await this.#dropShell()
    const shell = this.#shell ??= await this.#startShell()
    request.signal.throwIfAborted()
    this.#assertOpen()
    if (request.signal !== this.#signal) await shell.markStart()
    this.#signal = request.signal
    await shell.begin(request.command, request.env)
    const outcome = await this.#follow(shell, request)
    if (!hadEnded) return outcome
    return { ...outcome, note: `The shell had ended meanwhile; this is a new one. ${outcome.note}` }
  }

  /** Waits until the command ends or the call has to return. */
  async #follow(shell: Shell, { timeoutMs, signal }: TerminalRequest): Promise<Outcome> {
    const start = performance.now()
    const wake = (): void => shell.wake()
    signal.addEventListener('abort', wake)
    try {
      for (;;) {
        if (signal.aborted) {
          await this.#interrupt(shell)
          throw signal.reason
        }
        const ended = await shell.nextChange(this.#returns(shell, start, timeoutMs).inMs)
        if (ended !== undefined) return await this.#ended(ended)
        const { inMs, why, isTimeout } = this.#returns(shell, start, timeoutMs)
        if (inMs === 0 && !signal.aborted) return { note: `${why} and is still running. ${howToGoOn}`, exitCode: -1, isTimeout }
      }
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  /** When the call returns if nothing happens, and why. */
  #returns(shell: Shell, start: number, timeoutMs: number | undefined): { inMs: number; why: string; isTimeout: boolean } {
    const { idleMs = 30_000, callLimitMs = 600_000 } = this.#options
    const now = performance.now()
    const limitMs = timeoutMs ?? callLimitMs
    const limitInMs = start + limitMs - now
    const idleInMs = Math.max(start, shell.lastOutputAt) + idleMs - now
    return timeoutMs !== undefined || limitInMs < idleInMs
      ? { inMs: Math.max(0, limitInMs), why: `The command has not ended within ${limitMs / 1000} seconds`, isTimeout: true }
      : { inMs: Math.max(0, idleInMs), why: `The command has printed nothing for ${idleMs / 1000} seconds`, isTimeout: false }
  }

  async #ended(ended: CommandEnd): Promise<Outcome> {
    if (ended.end === 'reported') {
      this.#report = ended.report
      const { exitCode, workingDir } = ended.report
      return { note: `The command ended with exit code ${exitCode}. The shell is in ${workingDir}.`, exitCode }
    }
    await this.#dropShell()
    const note = `The shell ended with exit code ${ended.exitCode}. The next command starts a new one in ${this.#options.workingDir}.`
    return { note, exitCode: ended.exitCode }
  }

  /** Ctrl-C, then SIGKILL for what the command started; a shell that does not come back to its prompt ends too. */
  async #interrupt(shell: Shell): Promise<void> {
    shell.interrupt()
    const isBack = await this.#comesBack(shell, interruptGraceMs)
    const isClean = await shell.killStarted()
    if (!isClean || (!isBack && !await this.#comesBack(shell, promptLimitMs)) || shell.hasExited) await this.#dropShell()
    // Nobody is told of it any more.
    await this.#takeOutput()
  }

  async #comesBack(shell: Shell, limitMs: number): Promise<boolean> {
    const end = performance.now() + limitMs
    while (performance.now() < end) {
      if (await shell.nextChange(end - performance.now()) !== undefined) return true
    }
    return false
  }

  async #takeOutput(): Promise<{ text: string; file?: string }> {
    const shell = this.#shell
    const line = shell?.takeLine() ?? ''
    const isBusy = shell?.isBusy === true
    // A secret may go on in what comes next, so the stream ends only with the command.
    await this.#output.write(this.#masking.push(line) + (isBusy ? '' : this.#masking.end()))
    return this.#output.take()
  }

  async #startShell(): Promise<Shell> {
    const { kind, workingDir, makeSecretDir, env, instance, cgroupParent, createId } = this.#options
    const name = `shell-${createId()}`
    return startShell({
      kind,
      workingDir,
      folder: join(await makeSecretDir(), name),
      env,
      marker: `${instance}/${name}`,
      cgroupParent,
      onOutput: (text) => this.#output.write(this.#masking.push(text)),
    })
  }

  /** What the old shell printed last is not for the new one's command. */
  async #reset(): Promise<void> {
    await this.#dropShell()
    await this.#takeOutput()
  }

  async #dropShell(): Promise<void> {
    const shell = this.#shell
    if (shell === undefined) return
    this.#shell = undefined
    this.#report = undefined
    await shell.stop()
    await this.#output.write(this.#masking.push(shell.takeLine()))
  }
}

const howToGoOn = [
  'To read more output, call again with an empty command; to answer the program, set is_input to true;',
  'to interrupt it, type C-c with is_input true; if nothing helps, set reset to true.',
].join(' ')

function refuse(note: string): Outcome {
  return { note, isRefused: true }
}
