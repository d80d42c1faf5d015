/**
 * Runs commands of clients with sh(1), each in its own process group.
 *
 * When the shell exits or the command is stopped, all processes of the command that can be found are ended, background
 * processes included.
 */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { AppError, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Masker } from '../../base/masking.ts'
import { formatMicros, type Clock } from '../../base/stamp.ts'
import { deferred, within } from '../../base/wait.ts'
import { startChild, type Child, type ChildOptions } from '../../process/child.ts'
import type { BashCommand, BashOutput, ExecuteBashRequest } from './generated.ts'
import type { History } from './history.ts'
import { OutputText } from './output.ts'

export interface CommandsOptions extends Pick<ChildOptions, 'env' | 'cgroupParent'> {
  readonly history: History
  readonly masker: Masker
  readonly clock: Clock
  readonly log: Log
  readonly instanceId: string
  /** The working folder of a command without `cwd`. A relative `cwd` is resolved against it. */
  readonly homeDir: string
  /** The most commands that run at the same time. */
  readonly limit: number
}

export interface StartedCommand {
  readonly command: BashCommand
  /** Resolves with the last output when the command has ended. */
  readonly ended: Promise<BashOutput>
}

/** The most bytes on stdout and stderr together. A command that prints more is ended. */
const outputLimitBytes = 16 * 1024 * 1024
/** The longest wait for the end of the output after the shell has exited. A background process may keep a pipe open. */
const drainLimitMs = 200

type End = { readonly code: number; readonly note?: string }

interface Running {
  /** Ends the command. The last output of the command tells the reason. */
  readonly stop: (reason: string) => void
  /** Resolves with the last output when the command has ended. */
  readonly ended: Promise<BashOutput>
}

export class Commands {
  readonly #options: CommandsOptions
  /** The running commands by `BashCommand.id`. */
  readonly #running = new Map<string, Running>()
  #lastMicros = 0
  #isClosed = false

  constructor(options: CommandsOptions) {
    this.#options = options
  }

  /**
   * Starts a command. `sender` stands for the WebSocket that sent the command; a REST request has no `sender`.
   * @throws AppError `unavailable` when too many commands run or the server closes
   */
  start(request: ExecuteBashRequest, sender?: symbol): StartedCommand {
    const { command, cwd = null, timeout } = request
    const { history, limit, masker } = this.#options
    if (this.#isClosed) throw new AppError('unavailable', 'The server is shutting down')
    if (this.#running.size >= limit) {
      throw new AppError('unavailable', `Cannot start the command: ${limit} commands run already (--bash-limit)`)
    }
    const told = { ...this.#stamp(), command: masker.mask(command), cwd, timeout }
    const started: BashCommand = { kind: 'BashCommand', ...told }
    history.add(started, sender)
    const stopped = deferred<string>()
    const ended = this.#run(started.id, { request, sender }, stopped.promise)
    this.#running.set(started.id, { stop: stopped.resolve, ended })
    const forget = (): boolean => this.#running.delete(started.id)
    ended.then(forget, forget)
    return { command: started, ended }
  }

  /** Ends a running command. Returns its last output. @throws AppError `not_found` when no such command runs */
  stop(id: string): Promise<BashOutput> {
    const running = this.#running.get(id)
    if (running === undefined) throw new AppError('not_found', 'No command with this id is running')
    running.stop('a client stopped it')
    return running.ended
  }

  /** Ends all running commands, then clears the history. Returns the number of events that the history had. */
  async clear(): Promise<number> {
    await this.#stopAll()
    return this.#options.history.clear()
  }

  /** Refuses further commands, ends the running commands, and waits until the history is written. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#stopAll()
    await this.#options.history.close()
  }

  async #stopAll(): Promise<void> {
    const all = [...this.#running.values()]
    for (const { stop } of all) stop('the history was cleared, or the server closed')
    await Promise.allSettled(all.map(({ ended }) => ended)) // `#run` has put each failure into the history.
  }

  async #run(
    id: string,
    { request, sender }: { readonly request: ExecuteBashRequest; readonly sender: symbol | undefined },
    stopped: Promise<string>,
  ): Promise<BashOutput> {
    let order = 0
    const tell = (exitCode: number | null, stdout: string, stderr: string): BashOutput => {
      const [out, err] = [stdout === '' ? null : stdout, stderr === '' ? null : stderr]
      const numbers = { command_id: id, order: order++, exit_code: exitCode }
      const output: BashOutput = { kind: 'BashOutput', ...this.#stamp(), ...numbers, stdout: out, stderr: err }
      this.#options.history.add(output, sender)
      return output
    }
    try {
      return await this.#runShell(request, stopped, tell)
    } catch (thrown) {
      return tell(-1, '', this.#options.masker.mask(messageOf(thrown)))
    }
  }

  async #runShell(
    { command, cwd = '.', timeout }: ExecuteBashRequest,
    stopped: Promise<string>,
    tell: (exitCode: number | null, stdout: string, stderr: string) => BashOutput,
  ): Promise<BashOutput> {
    const { homeDir, env, instanceId, cgroupParent, masker } = this.#options
    const marker = `${instanceId}/bash-${randomUUID()}`
    const args = ['-c', command]
    const child = await startChild({
      command: '/bin/sh', args, cwd: resolve(homeDir, cwd), env, marker, cgroupParent,
    })
    child.stdin.end()
    let left = outputLimitBytes
    const overflow = deferred<void>()
    const onBytes = (count: number): void => {
      left -= count
      if (left < 0) overflow.resolve()
    }
    const stdout = new OutputText(child.stdout, { masker, onBytes, onChunk: (text) => tell(null, text, '') })
    const stderr = new OutputText(child.stderr, { masker, onBytes, onChunk: (text) => tell(null, '', text) })
    const end = await endOf(child, timeout * 1000, stopped, overflow.promise)
    await within(Promise.all([stdout.ended, stderr.ended]), end.note === undefined ? drainLimitMs : 0)
    await child.stop()
    const note = end.note === undefined ? '' : `[The command was ended: ${end.note}]\n`
    return tell(end.code, stdout.rest(), stderr.rest() + note)
  }

  /** Returns a new id, and a timestamp that is later than the last timestamp. */
  #stamp(): { readonly id: string; readonly timestamp: string } {
    this.#lastMicros = Math.max(this.#lastMicros + 1, Math.floor(this.#options.clock() * 1000))
    return { id: randomUUID().replaceAll('-', ''), timestamp: formatMicros(this.#lastMicros) }
  }
}

async function endOf(
  child: Child, timeoutMs: number, stopped: Promise<string>, overflow: Promise<void>,
): Promise<End> {
  const outcomes = Promise.race([
    child.exited.then(({ code }): End => ({ code: code ?? -1 })),
    stopped.then((note): End => ({ code: -1, note })),
    overflow.then((): End => ({ code: -1, note: `it printed more than ${outputLimitBytes} bytes` })),
  ])
  const end = await within(outcomes, timeoutMs)
  return end === 'late' ? { code: -1, note: `it did not end within ${timeoutMs / 1000} s` } : end
}
