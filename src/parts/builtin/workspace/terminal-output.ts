/**
 * Collects the output of a program: its beginning and its end for the model, all of it up to a limit in a file.
 *
 * Memory is bounded: the file is started when the text outgrows the limit of the memory. `write` resolves
 * when the text is on disk, which slows a program that floods. A failed write is reported to `onError`, and the file is
 * left out. Files are readable for the server's user only.
 */
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, openNew, privateFolder } from '../../../base/own-files.ts'

export interface TerminalOutputOptions {
  /** The folder for whole outputs. */
  readonly folder: string
  /** Makes unique ids. */
  readonly createId: () => string
  /** The longest text for the model. */
  readonly limitChars: number
  readonly fileLimitBytes: number
  readonly onError: (error: unknown) => void
}

export interface TakenOutput {
  readonly text: string
  /** The file with the whole output, if the text was cut and the file could be written. */
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

  /** Returns the collected output and starts anew. */
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

/** Writes text up to its limit or the first error. */
class OutputFile {
  readonly #options: TerminalOutputOptions
  readonly #path: string
  #handle: FileHandle | undefined
  #sizeBytes = 0
  #hasFailed = false

  constructor(options: TerminalOutputOptions) {
    this.#options = options
    this.#path = join(options.folder, `terminal-${options.createId()}.txt`)
  }

  async write(text: string): Promise<void> {
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

  /** Closes the file. Returns its path; undefined when a write failed. */
  async close(): Promise<string | undefined> {
    await this.#handle?.close().catch(this.#options.onError)
    return this.#hasFailed ? undefined : this.#path
  }

  async #open(): Promise<FileHandle> {
    await makeFolder(this.#options.folder, privateFolder)
    return openNew(this.#path)
  }
}
