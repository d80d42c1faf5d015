/**
 * A disk in memory that can fail, fill up or lose power at any operation.
 *
 * The process sees written bytes at once, but only synced bytes survive a loss of power for sure. Of the rest, any
 * sectors may have reached the disk; the other sectors read as zeros where the file grew. Operations that change
 * something are counted from 1 on, so that a test can go through all of them.
 */
import type { Files, OpenFile } from '../../src/storage/files.ts'
import { below } from './samples.ts'

const sectorBytes = 64

export type Fault = 'power' | 'EIO' | 'ENOSPC'

interface StoredFile {
  content: Buffer
  synced: Buffer
  unsynced: { position: number; bytes: Buffer }[]
}

export class SimulatedDisk implements Files {
  readonly #files = new Map<string, StoredFile>()
  readonly #random: () => number
  #operations = 0
  #fault: { at: number; kind: Fault; times: number } | undefined
  #dead = false

  constructor(random: () => number) {
    this.#random = random
  }

  get operations(): number {
    return this.#operations
  }

  /** The bytes of a file as the process sees them; they may be changed in place. */
  content(path: string): Buffer {
    return this.#file(path).content
  }

  replace(path: string, content: Buffer): void {
    this.#files.set(path, { content: Buffer.from(content), synced: Buffer.from(content), unsynced: [] })
  }

  remove(path: string): void {
    this.#files.delete(path)
  }

  get paths(): string[] {
    return [...this.#files.keys()]
  }

  /** The operation that many ahead fails; `times` operations in a row for an error, all of them for power. */
  failAfter(operations: number, kind: Fault, times = 1): void {
    this.#fault = { at: this.#operations + operations, kind, times }
  }

  heal(): void {
    this.#fault = undefined
  }

  /** Begins a new process after the old one died: the written bytes are there, though perhaps not on the disk yet. */
  restart(): void {
    this.#dead = false
    this.#fault = undefined
  }

  /** Power is lost and comes back: sectors that were not synced are there or not. */
  losePower(): void {
    for (const file of this.#files.values()) {
      const content = this.#survivors(file)
      Object.assign(file, { content, synced: Buffer.from(content), unsynced: [] })
    }
    this.#dead = false
    this.#fault = undefined
  }

  async open(path: string, { writeThrough } = { writeThrough: false }): Promise<OpenFile> {
    await undefined
    if (this.#dead) throw systemError('EIO')
    if (!this.#files.has(path)) this.replace(path, Buffer.alloc(0))
    const file = this.#file(path)
    const sync = (): Promise<void> =>
      this.#operate(() => Object.assign(file, { synced: Buffer.from(file.content), unsynced: [] }))
    return {
      size: async () => file.content.length,
      read: async (length, position) => Buffer.from(file.content.subarray(position, position + length)),
      // To write through is two operations, so that a fault may come between them.
      write: async (bytes, position) => {
        const put = (length: number): void => change(file, position, bytes.subarray(0, length))
        await this.#operate(() => put(bytes.length), bytes.length, put)
        if (writeThrough) await sync()
      },
      truncate: (length) => this.#operate(() => truncate(file, length)),
      sync,
      close: async () => undefined,
    }
  }

  #file(path: string): StoredFile {
    const file = this.#files.get(path)
    if (file === undefined) throw new Error(`no file ${path}`)
    return file
  }

  async #operate(work: () => unknown, length = 0, partly?: (part: number) => void): Promise<void> {
    await undefined
    if (this.#dead) throw systemError('EIO')
    this.#operations++
    const fault = this.#fault
    if (fault === undefined || this.#operations < fault.at) return void work()
    if (fault.kind === 'power') this.#dead = true
    else if (this.#operations >= fault.at + fault.times) return void work()
    partly?.(below(this.#random, length + 1))
    throw systemError(fault.kind === 'power' ? 'EIO' : fault.kind)
  }

  #survivors(file: StoredFile): Buffer {
    let content = file.synced
    for (const { position, bytes } of file.unsynced) {
      for (let at = 0; at < bytes.length; ) {
        const end = Math.min(bytes.length, (Math.floor((position + at) / sectorBytes) + 1) * sectorBytes - position)
        if (this.#random() < 0.6) content = overlay(content, position + at, bytes.subarray(at, end))
        at = end
      }
    }
    return Buffer.from(content)
  }
}

function change(file: StoredFile, position: number, bytes: Buffer): void {
  file.content = overlay(file.content, position, bytes)
  file.unsynced.push({ position, bytes: Buffer.from(bytes) })
}

/** Cutting a file is taken to be durable at once: the file systems in use write it before all later writes. */
function truncate(file: StoredFile, length: number): void {
  file.content = Buffer.from(file.content.subarray(0, length))
  file.synced = Buffer.from(file.synced.subarray(0, length))
  file.unsynced = file.unsynced
    .map(({ position, bytes }) => ({ position, bytes: bytes.subarray(0, Math.max(0, length - position)) }))
    .filter(({ bytes }) => bytes.length > 0)
}

function overlay(content: Buffer, position: number, bytes: Buffer): Buffer {
  const grown = Buffer.alloc(Math.max(content.length, position + bytes.length))
  content.copy(grown)
  bytes.copy(grown, position)
  return grown
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code })
}
