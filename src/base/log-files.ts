/**
 * Writes the files of the server's logs in the background, and opens them again after a rotation.
 *
 * Lines are gathered for a moment and written together. Lines are dropped and counted when a write fails or too many
 * characters wait. A new file has the mode 0640. A link, a pipe and a device are refused.
 */
import type { FileHandle } from 'node:fs/promises'
import { AppError, messageOf, systemCodeOf } from './errors.ts'
import { appendNow, openToAppend } from './own-files.ts'
import { sleep, within } from './wait.ts'

/** The names of the logs for operators: the server log and the access log. */
export type LogName = 'server' | 'access'

/** Writes the lines of a log. Each line includes its newline. */
export interface LogOutput {
  write(line: string): void
  /** Writes the waiting lines and this line synchronously: for the last line of a process. */
  writeNow(line: string): void
  /** Writes the waiting lines, then closes the file. Each of these two steps waits at most two seconds. Idempotent. */
  close(): Promise<void>
}

export interface LogFilesOptions {
  /** Writes a line to standard output, for a log with the path `-`. Default: the path `-` is refused. */
  readonly writeOutput?: (line: string) => void
  /** Gets messages about dropped lines and about errors of `reopen`. */
  readonly tell?: (words: string) => void
}

/** The most characters that wait for the next write, for each file. */
const queueLimitChars = 4 * 1024 * 1024
const closeLimitMs = 2000
/** The wait before a write, in milliseconds. Lines that come meanwhile are written together. */
const gatherMs = 20

export class LogFiles {
  readonly #options: LogFilesOptions
  readonly #files = new Set<LogFile>()
  readonly #dropped = new Map<LogName, number>()
  #reopening: Promise<void> = Promise.resolve()

  constructor(options: LogFilesOptions = {}) {
    this.#options = options
  }

  /** True while a log is written to a file. */
  get isUsed(): boolean {
    return this.#files.size > 0
  }

  /** Opens a log. @throws AppError `invalid_option` for a path that cannot be used */
  async open(name: LogName, path: string): Promise<LogOutput> {
    const { writeOutput, tell = ignore } = this.#options
    if (path !== '-') {
      const file = new LogFile({
        name, path, tell, handle: await openLog(path),
        onDrop: (lines) => this.#dropped.set(name, this.dropped(name) + lines),
        onClose: () => this.#files.delete(file),
      })
      this.#files.add(file)
      return file
    }
    if (writeOutput === undefined) throw new AppError('invalid_option', 'Could not use "-": expected a file')
    return { write: writeOutput, writeNow: writeOutput, close: async () => undefined }
  }

  /** The number of lines of a log that were dropped since the start. */
  dropped(name: LogName): number {
    return this.#dropped.get(name) ?? 0
  }

  /** Opens every file again by its path. Passes errors to `LogFilesOptions.tell`. */
  reopen(): Promise<void> {
    this.#reopening = this.#reopening.then(async () => {
      for (const file of this.#files) await file.reopen()
    })
    return this.#reopening
  }
}

interface LogFileOptions {
  readonly name: LogName
  readonly path: string
  readonly handle: FileHandle
  readonly tell: (words: string) => void
  readonly onDrop: (lines: number) => void
  readonly onClose: () => void
}

class LogFile implements LogOutput {
  readonly #options: LogFileOptions
  #handle: FileHandle
  #lines: string[] = []
  #chars = 0
  /** The number of lines that were dropped since the last write without an error. */
  #lost = 0
  /** True when the file may end inside of a line. The next write then begins with a newline. */
  #isTorn = false
  #batch: Promise<void> | undefined
  #writing: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(options: LogFileOptions) {
    this.#options = options
    this.#handle = options.handle
  }

  write(line: string): void {
    if (this.#closing !== undefined || this.#chars + line.length > queueLimitChars) return this.#drop(1, 'too slow')
    this.#lines.push(line)
    this.#chars += line.length
    this.#writing ??= this.#writeAll()
  }

  writeNow(line: string): void {
    const lines = [...this.#takeLines(), line]
    try {
      appendNow(this.#handle, '\n'.repeat(this.#isTorn ? 1 : 0) + lines.join(''))
      this.#isTorn = false
      this.#recovered()
    } catch (thrown) {
      this.#isTorn = true // A line may be cut. If none is, the newline before the next write only makes an empty line.
      this.#drop(lines.length, reasonOf(thrown))
    }
  }

  async reopen(): Promise<void> {
    if (this.#closing !== undefined) return
    const { path, tell } = this.#options
    try {
      const before = this.#handle
      this.#handle = await openLog(path)
      this.#isTorn = false
      await this.#batch
      await before.close()
    } catch (thrown) {
      tell(messageOf(thrown))
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await within(this.#writing ?? Promise.resolve(), closeLimitMs)
    await within(this.#handle.close().catch(ignore), closeLimitMs) // An error is ignored: no line follows.
    this.#options.onClose()
  }

  async #writeAll(): Promise<void> {
    while (this.#lines.length > 0) {
      await sleep(gatherMs)
      this.#batch = this.#write(this.#takeLines())
      await this.#batch
    }
    this.#writing = undefined
  }

  #takeLines(): string[] {
    const lines = this.#lines
    this.#lines = []
    this.#chars = 0
    return lines
  }

  /** Writes lines. Never rejects. */
  async #write(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    const handle = this.#handle
    const start = this.#isTorn ? 1 : 0
    const bytes = Buffer.from('\n'.repeat(start) + lines.join(''))
    let written = 0
    try {
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten
      this.#recovered()
    } catch (thrown) {
      this.#drop(lines.length - Math.max(0, countLines(bytes.subarray(0, written)) - start), reasonOf(thrown))
    }
    if (written > 0 && handle === this.#handle) this.#isTorn = bytes[written - 1] !== newline
  }

  #drop(lines: number, reason: string): void {
    const { name, path, tell, onDrop } = this.#options
    if (this.#lost === 0) tell(`Cannot write the ${name} log "${path}" (${reason}): lines are dropped until it works`)
    this.#lost += lines
    onDrop(lines)
  }

  #recovered(): void {
    if (this.#lost === 0) return
    const { name, path, tell } = this.#options
    tell(`The ${name} log "${path}" is written again: ${this.#lost} lines were dropped`)
    this.#lost = 0
  }
}

const newline = 10

function countLines(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => (byte === newline ? count + 1 : count), 0)
}

async function openLog(path: string): Promise<FileHandle> {
  try {
    return await openToAppend(path)
  } catch (thrown) {
    const reason = systemCodeOf(thrown) === 'ELOOP' ? 'it is a link' : reasonOf(thrown)
    throw new AppError('invalid_option', `Could not use the log file "${path}": ${reason}`, { cause: thrown })
  }
}

/** Returns the code of a system error, or the message of any other error. */
function reasonOf(thrown: unknown): string {
  return systemCodeOf(thrown) ?? messageOf(thrown)
}

function ignore(): void {}
