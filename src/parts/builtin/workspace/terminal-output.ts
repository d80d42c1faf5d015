/**
 * Collects the output of a program for the model.
 *
 * Of a long output the model gets the beginning and the end. A long output is also written to a file, up to a limit.
 * `write` resolves when the text is written, which slows down a program that prints much.
 */
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Limiter } from '../../../base/limiter.ts'
import { makeFolder, openNew, privateFolder } from '../../../base/own-files.ts'

export interface TerminalOutputOptions {
  /** The folder for the output files. It is made with the first file. */
  readonly folder: string
  readonly createId: () => string
  /** The longest text for the model, in characters. The note about a left-out middle does not count. */
  readonly limitChars: number
  readonly fileLimitBytes: number
  readonly onError: (error: unknown) => void
}

export interface TakenOutput {
  readonly text: string
  /** The path of the file with the output (up to `fileLimitBytes`); absent for a short output, or if a write failed. */
  readonly file?: string
}

export class TerminalOutput {
  readonly #options: TerminalOutputOptions
  readonly #halfChars: number
  #head = ''
  #tail = ''
  #totalChars = 0
  #file: OutputFile | undefined

  constructor(options: TerminalOutputOptions) {
    this.#options = options
    this.#halfChars = Math.floor(options.limitChars / 2)
  }

  async write(text: string): Promise<void> {
    const wasWhole = this.#totalChars <= this.#options.limitChars
    const before = wasWhole ? this.#head + this.#tail : ''
    this.#totalChars += text.length
    const room = this.#halfChars - this.#head.length
    this.#head += text.slice(0, room)
    this.#tail = (this.#tail + text.slice(room)).slice(-2 * this.#halfChars)
    if (this.#totalChars <= this.#options.limitChars) return
    this.#file ??= new OutputFile(this.#options)
    await this.#file.write(before + text)
  }

  /** Returns the collected output, and begins to collect a new output. */
  async take(): Promise<TakenOutput> {
    const [head, tail, totalChars, file] = [this.#head, this.#tail, this.#totalChars, this.#file]
    this.#head = this.#tail = ''
    this.#totalChars = 0
    this.#file = undefined
    const path = await file?.close()
    if (totalChars <= this.#options.limitChars) return { text: head + tail }
    const end = tail.slice(-this.#halfChars).replace(/^[\udc00-\udfff]/, '')
    const begin = head.replace(/[\ud800-\udbff]$/, '')
    const missing = totalChars - begin.length - end.length
    const text = `${begin}\n[... ${missing} characters are left out here ...]\n${end}`
    return path === undefined ? { text } : { text, file: path }
  }
}

/** A file for one output. It takes text until `fileLimitBytes` or the first error. */
class OutputFile {
  readonly #options: TerminalOutputOptions
  readonly #path: string
  /** Runs one write at a time: `write` may be called again before the earlier write has ended. */
  readonly #writes = new Limiter(1)
  #handle: FileHandle | undefined
  #sizeBytes = 0
  #hasFailed = false

  constructor(options: TerminalOutputOptions) {
    this.#options = options
    this.#path = join(options.folder, `terminal-${options.createId()}.txt`)
  }

  write(text: string): Promise<void> {
    return this.#writes.run(() => this.#write(text))
  }

  /** Closes the file. Returns its path; undefined when the file could not be opened or written. */
  close(): Promise<string | undefined> {
    return this.#writes.run(async () => {
      await this.#handle?.close().catch(this.#options.onError)
      return this.#hasFailed ? undefined : this.#path
    })
  }

  async #write(text: string): Promise<void> {
    const room = this.#options.fileLimitBytes - this.#sizeBytes
    if (this.#hasFailed || room <= 0) return
    try {
      this.#handle ??= await this.#open()
      const bytes = Buffer.from(text)
      await this.#handle.appendFile(bytes.subarray(0, room))
      this.#sizeBytes += bytes.length
    } catch (error) {
      this.#hasFailed = true
      this.#options.onError(error)
    }
  }

  async #open(): Promise<FileHandle> {
    await makeFolder(this.#options.folder, privateFolder)
    return openNew(this.#path)
  }
}
