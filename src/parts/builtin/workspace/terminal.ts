/**
 * The terminal of a conversation: runs commands, sends input to the running command, and returns output.
 *
 * One bash keeps its state from command to command. When bash has ended, the next command starts a new bash.
 *
 * A call may return before its command has ended. Later calls then read on, type or press keys. When a turn is stopped
 * or paused, the processes that its commands have started are killed (decisions 16).
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
  /** The folder for files with outputs that exceed `outputLimitChars`. */
  readonly observationsDir: string
  /** Makes the private folder for unencrypted secrets, if missing. Returns its path. Each shell gets a folder in it. */
  readonly makeSecretDir: () => Promise<string>
  /** The whole environment of the shell, from process/environment. */
  readonly env: Readonly<Record<string, string>>
  /** The instance id of the data folder. It begins the value of the environment variable that marks child processes. */
  readonly instance: string
  readonly cgroupParent?: string | undefined
  readonly createId: () => string
  readonly createMaskingStream: () => MaskingStream
  /** Called when an output file could not be written. */
  readonly onError: (error: unknown) => void
  /** The time that a call without `timeoutMs` waits for more output. Default 30 s. */
  readonly idleMs?: number
  /** The longest call without `timeoutMs`. Default 10 min. */
  readonly callLimitMs?: number
  /** The longest output that a call returns. Default 30,000 characters. */
  readonly outputLimitChars?: number
  /** The largest output file. Default 64 MiB. */
  readonly fileLimitBytes?: number
}

export interface TerminalRequest {
  /** The command to run, or with `isInput` the text or the name of the key to type. Empty to read more output. */
  readonly command: string
  readonly isInput: boolean
  /** The longest wait for the command's end. The command then goes on. Without it, `idleMs` and `callLimitMs` apply. */
  readonly timeoutMs?: number | undefined
  /** True to end the shell first. A command then runs in a new shell. */
  readonly reset: boolean
  /** Variables exported for this command only. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export interface TerminalResult {
  readonly output: string
  /** A note for the model: how the call ended, and how to go on. */
  readonly note: string
  /** The exit code; -1 while a command runs; 0 after a reset alone. A call refused while no command runs has none. */
  readonly exitCode?: number
  readonly isTimeout: boolean
  /** True when the request was refused: nothing was run or typed. */
  readonly isRefused: boolean
  /** The path of the output file, if any. */
  readonly file?: string
  /** The report on the last command that ended in the shell; absent before a command ends and after the shell ends. */
  readonly report?: ShellReport
}

/** The time for a command to end after Ctrl-C, before its processes are killed. */
const interruptGraceMs = 500
/** The longest wait for the shell's prompt after the processes of the command were killed. */
const promptLimitMs = 3000
/** The most bytes of input in one call. A terminal buffers at most 4,096 bytes that the program has not read. */
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
  /** The signal of the last call that started a command. A call with another signal belongs to another turn. */
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
   * Serves one call of the tool, after all earlier calls have settled.
   * @throws the signal's reason; errors such as AppError `agent_failed` if no shell starts; TypeError once closed
   */
  run(request: TerminalRequest): Promise<TerminalResult> {
    const result = this.#last.then(() => this.#run(request))
    this.#last = result.catch(() => undefined) // The caller gets the error from `result`.
    return result
  }

  /**
   * Kills the processes that the commands of a turn have started, after all calls have settled.
   * @param signal the signal of the turn's calls
   * @throws AppError `agent_failed` when the shell cannot be ended
   */
  turnStopped(signal: AbortSignal): Promise<void> {
    const stopped = this.#last.then(() => this.#stopTurn(signal))
    this.#last = stopped.catch(() => undefined) // The caller gets the error from `stopped`.
    return stopped
  }

  async #stopTurn(signal: AbortSignal): Promise<void> {
    const shell = this.#shell
    if (shell === undefined || signal !== this.#signal) return
    if (shell.isBusy) await this.#interrupt(shell)
    else if (!await shell.killStarted()) await this.#dropShell()
  }

  /** Ends the shell and all processes that it started. The current call settles; later calls reject. Idempotent. */
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
      return {
        ...refuse(`This command was NOT run, because the one before is still running. ${howToGoOn}`), exitCode: -1,
      }
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
        return `Nothing was typed: expected at most ${inputLimitBytes} bytes of input. Write a file and let the ` +
          'program read that.'
      }
      // On a terminal, Enter sends a carriage return, which the terminal usually converts into a newline.
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

  /** Waits until the command ends or a time limit makes the call return. @throws the signal's reason, among others */
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
        if (inMs === 0 && !signal.aborted) {
          return { note: `${why} and is still running. ${howToGoOn}`, exitCode: -1, isTimeout }
        }
      }
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  /** Returns how long the call still waits if no output comes, and why it then returns, in words for the model. */
  #returns(
    shell: Shell, start: number, timeoutMs: number | undefined,
  ): { inMs: number; why: string; isTimeout: boolean } {
    const { idleMs = 30_000, callLimitMs = 600_000 } = this.#options
    const now = performance.now()
    const limitMs = timeoutMs ?? callLimitMs
    const limitInMs = start + limitMs - now
    const idleInMs = Math.max(start, shell.lastOutputAt) + idleMs - now
    return timeoutMs !== undefined || limitInMs < idleInMs
      ? {
          inMs: Math.max(0, limitInMs),
          why: `The command has not ended within ${limitMs / 1000} seconds`,
          isTimeout: true,
        }
      : {
          inMs: Math.max(0, idleInMs),
          why: `The command has printed nothing for ${idleMs / 1000} seconds`,
          isTimeout: false,
        }
  }

  async #ended(ended: CommandEnd): Promise<Outcome> {
    if (ended.end === 'reported') {
      this.#report = ended.report
      const { exitCode, workingDir } = ended.report
      return { note: `The command ended with exit code ${exitCode}. The shell is in ${workingDir}.`, exitCode }
    }
    await this.#dropShell()
    const note = `The shell ended with exit code ${ended.exitCode}. The next command starts a new one in ` +
      `${this.#options.workingDir}.`
    return { note, exitCode: ended.exitCode }
  }

  /** Sends Ctrl-C, then calls `killStarted`. Ends the shell if `killStarted` returns false or no prompt comes back. */
  async #interrupt(shell: Shell): Promise<void> {
    shell.interrupt()
    const isBack = await this.#comesBack(shell, interruptGraceMs)
    const isClean = await shell.killStarted()
    if (!isClean || (!isBack && !(await this.#comesBack(shell, promptLimitMs))) || shell.hasExited) {
      await this.#dropShell()
    }
    // Drop the output, because no call will return it.
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
    // While a command runs, its next output may continue a secret. So the masking stream ends only with the command.
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

  /** Ends the shell, and drops its unread output. */
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
