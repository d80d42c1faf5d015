/**
 * Records every change that this process makes under a folder, and makes from the record the folder as a loss of power
 * at any moment could have left it.
 *
 * Changes that a sync covers are there for sure. Of all other changes any part may be: of unsynced bytes any sectors,
 * zeros where the file grew without them; of the changes of names in one folder any first part, independent of other
 * folders; a rename at once in both of its folders. A sync of a file says nothing about its name, which is stricter
 * than most file systems are. Removing a folder is taken to be one step, since only folders in `temporary/` are.
 */
import { constants, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import promises, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'

/** A name in a folder, both by number: 0 is the folder that is recorded. */
interface Place {
  readonly folder: number
  readonly name: string
}

type Entry =
  | { readonly type: 'name', readonly place: Place, readonly node: number, readonly isFolder: boolean }
  | { readonly type: 'rename', readonly from: Place, readonly place: Place, readonly node: number }
  | { readonly type: 'remove', readonly place: Place }
  | { readonly type: 'write', readonly node: number, readonly position: number, readonly bytes: Buffer }
  | { readonly type: 'truncate', readonly node: number, readonly length: number }
  /**
   * Syncs the changes of a node, or of the names in a folder, before entry number `before`. Syncs one write alone where
   * `only` names it.
   */
  | { readonly type: 'sync', readonly node: number, readonly before: number, readonly only?: number }

const sectorBytes = 512

export class RecordedDisk {
  readonly #root: string
  readonly #entries: Entry[] = []
  readonly #nodes: Map<string, number>
  #nextNode = 1

  constructor(root: string) {
    this.#root = resolve(root)
    this.#nodes = new Map([[this.#root, 0]])
  }

  /** How many changes there are so far: a moment between two of them. */
  get moment(): number {
    return this.#entries.length
  }

  /** Records until the function that it gives is called. */
  start(): () => void {
    const { link, open, mkdir, rename, rm, writeFile } = promises
    const original = { link, open, mkdir, rename, rm, writeFile }
    Object.assign(promises, {
      open: async (path: string, flags: string | number = 'r', mode?: number) => {
        const isThere = existsSync(path)
        const handle = await open(path, flags, mode)
        return this.#isInside(path) ? this.#watch(handle, path, flags, isThere) : handle
      },
      mkdir: async (path: string, options?: Parameters<typeof mkdir>[1]) => {
        const missing = this.#missingIn(path)
        const made = await mkdir(path, options)
        for (const folder of missing) this.#name(folder, true)
        return made
      },
      link: async (from: string, to: string) => {
        await link(from, to)
        if (!this.#isInside(to)) return
        const node = this.#nodeOf(from)
        this.#nodes.set(resolve(to), node)
        this.#entries.push({ type: 'name', place: this.#placeOf(to), node, isFolder: false })
      },
      rename: async (from: string, to: string) => {
        await rename(from, to)
        if (this.#isInside(to)) this.#rename(from, to)
      },
      rm: async (path: string, options?: Parameters<typeof rm>[1]) => {
        const isThere = existsSync(path)
        await rm(path, options)
        if (isThere && this.#isInside(path)) this.#entries.push({ type: 'remove', place: this.#placeOf(path) })
      },
      writeFile: async (
        path: string, content: string | Buffer, options?: { readonly flag?: string, readonly mode?: number },
      ) => {
        if (!this.#isInside(path)) return writeFile(path, content, options)
        const handle = await promises.open(path, options?.flag ?? 'w', options?.mode)
        await handle.writeFile(content).finally(() => handle.close())
      },
    })
    syncBuiltinESMExports()
    return () => {
      Object.assign(promises, original)
      syncBuiltinESMExports()
    }
  }

  /** Fills a new folder with the files that may be left when power is lost at this moment. */
  survive(moment: number, folder: string, random: () => number): void {
    const entries = this.#entries.slice(0, moment)
    const names = keptNames(entries, random)
    const make = (node: number, path: string): void => {
      for (const [name, { node: child, isFolder }] of names.get(node) ?? []) {
        const made = join(path, name)
        if (!isFolder) writeFileSync(made, keptBytes(entries, child, random), { mode: 0o600 })
        else make(child, (mkdirSync(made, { mode: 0o700 }), made))
      }
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    make(0, folder)
  }

  #watch(handle: FileHandle, path: string, flags: string | number, wasThere: boolean): FileHandle {
    if (!wasThere) this.#name(path, false)
    const node = this.#nodeOf(path)
    const isThrough = typeof flags === 'number' && (flags & constants.O_DSYNC) === constants.O_DSYNC
    const entries = this.#entries
    if (wasThere && flags === 'w' && !statSync(path).isDirectory()) entries.push({ type: 'truncate', node, length: 0 })
    const { write, writeFile, truncate, sync, datasync } = handle
    const watchedSync = async (work: () => Promise<void>): Promise<void> => {
      const before = entries.length
      await work.call(handle)
      entries.push({ type: 'sync', node, before })
    }
    return Object.assign(handle, {
      write: async (bytes: Buffer, offset: number, length: number, position: number) => {
        const only = entries.push({
          type: 'write', node, position, bytes: Buffer.from(bytes.subarray(offset, offset + length)),
        }) -
          1
        const written = await Reflect.apply(write, handle, [bytes, offset, length, position])
        if (isThrough) entries.push({ type: 'sync', node, before: entries.length, only })
        return written
      },
      writeFile: async (content: string | Buffer) => {
        entries.push({ type: 'write', node, position: 0, bytes: Buffer.from(content) })
        await writeFile.call(handle, content)
      },
      truncate: async (length = 0) => {
        await truncate.call(handle, length)
        entries.push({ type: 'truncate', node, length })
      },
      sync: () => watchedSync(sync),
      datasync: () => watchedSync(datasync),
    })
  }

  #name(path: string, isFolder: boolean): void {
    const node = this.#nextNode++
    this.#nodes.set(resolve(path), node)
    this.#entries.push({ type: 'name', place: this.#placeOf(path), node, isFolder })
  }

  #rename(from: string, to: string): void {
    const [before, after] = [resolve(from), resolve(to)]
    const node = this.#nodeOf(before)
    this.#entries.push({ type: 'rename', from: this.#placeOf(before), place: this.#placeOf(after), node })
    for (const [path, inside] of [...this.#nodes]) {
      if (path !== before && !path.startsWith(`${before}/`)) continue
      this.#nodes.delete(path)
      this.#nodes.set(after + path.slice(before.length), inside)
    }
  }

  #missingIn(path: string): string[] {
    if (!this.#isInside(path) || existsSync(path)) return []
    return [...this.#missingIn(dirname(path)), path]
  }

  #isInside(path: string): boolean {
    return `${resolve(path)}/`.startsWith(`${this.#root}/`)
  }

  #placeOf(path: string): Place {
    return { folder: this.#nodeOf(dirname(resolve(path))), name: basename(path) }
  }

  #nodeOf(path: string): number {
    const node = this.#nodes.get(resolve(path))
    if (node === undefined) throw new Error(`"${path}" was made by something that is not recorded`)
    return node
  }
}

interface Named {
  readonly node: number
  readonly isFolder: boolean
}

/** Returns the names in each folder after the changes that are kept. */
function keptNames(entries: readonly Entry[], random: () => number): Map<number, Map<string, Named>> {
  const folders = new Map<number, Map<string, Named>>()
  const known = new Map<number, Named>()
  /** Folders in which a change was lost: all later changes in them are lost too. */
  const broken = new Set<number>()
  const sure = sureChanges(entries)
  for (const [number, entry] of entries.entries()) {
    if (entry.type !== 'name' && entry.type !== 'rename' && entry.type !== 'remove') continue
    if (entry.type === 'name') known.set(entry.node, entry)
    const touched = foldersOf(entry)
    const isKept = sure.has(number) || (!touched.some((folder) => broken.has(folder)) && random() < 0.6)
    if (!isKept) touched.forEach((folder) => broken.add(folder))
    else apply(entry, folders, known)
  }
  return folders
}

function apply(entry: Entry, folders: Map<number, Map<string, Named>>, known: ReadonlyMap<number, Named>): void {
  const namesIn = (folder: number): Map<string, Named> => {
    const names = folders.get(folder) ?? new Map<string, Named>()
    folders.set(folder, names)
    return names
  }
  if (entry.type === 'rename') namesIn(entry.from.folder).delete(entry.from.name)
  if (entry.type === 'remove') namesIn(entry.place.folder).delete(entry.place.name)
  const named = entry.type === 'name' || entry.type === 'rename' ? known.get(entry.node) : undefined
  if (named !== undefined && 'place' in entry) namesIn(entry.place.folder).set(entry.place.name, named)
}

/**
 * Returns the changes of names that a sync of their folder covers, and the changes before them in any of their folders.
 */
function sureChanges(entries: readonly Entry[]): Set<number> {
  const sure = new Set<number>()
  const until = new Map<number, number>()
  for (const entry of entries) if (entry.type === 'sync') until.set(entry.node, entry.before)
  for (let number = entries.length - 1; number >= 0; number--) {
    const entry = entries[number]
    if (entry === undefined) continue
    const touched = foldersOf(entry)
    if (!touched.some((folder) => number < (until.get(folder) ?? 0))) continue
    sure.add(number)
    for (const folder of touched) until.set(folder, Math.max(until.get(folder) ?? 0, number))
  }
  return sure
}

function foldersOf(entry: Entry): number[] {
  if (entry.type === 'rename') return [entry.from.folder, entry.place.folder]
  return entry.type === 'name' || entry.type === 'remove' ? [entry.place.folder] : []
}

/** The bytes of a file: all that was synced, and any sectors of the rest. */
function keptBytes(entries: readonly Entry[], node: number, random: () => number): Buffer {
  const through = new Set<number>()
  let before = 0
  for (const entry of entries) {
    if (entry.type !== 'sync' || entry.node !== node) continue
    if (entry.only === undefined) before = Math.max(before, entry.before)
    else through.add(entry.only)
  }
  let content: Buffer = Buffer.alloc(0)
  for (const [number, entry] of entries.entries()) {
    if (entry.type === 'truncate' && entry.node === node) {
      content = overlay(content.subarray(0, entry.length), entry.length, Buffer.alloc(0))
    }
    if (entry.type !== 'write' || entry.node !== node) continue
    const isSure = number < before || through.has(number)
    for (let at = 0; at < entry.bytes.length; at += sectorBytes) {
      if (isSure || random() < 0.6) {
        content = overlay(content, entry.position + at, entry.bytes.subarray(at, at + sectorBytes))
      }
    }
  }
  return content
}

function overlay(content: Buffer, position: number, bytes: Buffer): Buffer {
  const grown = Buffer.alloc(Math.max(content.length, position + bytes.length))
  content.copy(grown)
  bytes.copy(grown, position)
  return grown
}
