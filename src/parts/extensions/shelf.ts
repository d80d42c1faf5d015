/**
 * The installed extensions of one kind, in the data folder:
 *
 *     extensions/
 *       skills/<name>/record.json     source, version and whether it is enabled
 *       skills/<name>/content/        its files
 *       skills/.<name>.previous/      the folder that an installation under way replaces
 *       plugins/...                   the same for plugins
 *       work/<uuid>/                  an installation or removal under way, or the remains of a killed one
 *
 * A folder is added or removed by one rename. A replacement takes two renames. If the server is killed between them,
 * `recover` puts the replaced folder back.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { objectOf } from '../../base/fields.ts'
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts'
import { failsAsStorage, makeFolder, ownFolder, removeTree, rename, syncFolder } from '../../base/own-files.ts'
import { isThere, readdir } from '../../base/read-files.ts'
import type { Log } from '../../base/log.ts'
import { Limiter } from '../../base/limiter.ts'
import { parse } from '../../schema/check.ts'
import { ExtensionRecord } from './generated.ts'

export type ExtensionKind = 'skills' | 'plugins'

export interface Installed {
  readonly record: ExtensionRecord
  /** The absolute path of the folder `content`, with the files of the extension. */
  readonly folder: string
}

/** The form of an extension's name: lower-case letters and digits, with single hyphens between them. */
export const nameForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
export const nameLimit = 64
/** The most installed extensions of one kind. */
const shelfLimit = 200
const workShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const previousShape = /^\.(.+)\.previous$/

export class Shelf {
  readonly #root: string
  readonly #kind: ExtensionKind
  readonly #log: Pick<Log, 'warn'>
  readonly #changes = new Limiter(1)

  /** @param root the folder `extensions` of the data folder */
  constructor(root: string, kind: ExtensionKind, log: Pick<Log, 'warn'>) {
    this.#root = root
    this.#kind = kind
    this.#log = log
  }

  /** Returns the extensions, sorted by name. An extension with an unreadable record is left out and logged. */
  async list(): Promise<readonly Installed[]> {
    const names = (await namesIn(join(this.#root, this.#kind))).filter(isName).sort()
    const found = await Promise.all(names.map((name) => this.#read(name).catch((thrown: unknown) => {
      if (!(thrown instanceof AppError)) throw thrown
      this.#log.warn('An installed extension cannot be read', { kind: this.#kind, name, reason: thrown.message })
      return undefined
    })))
    return found.filter((one) => one !== undefined)
  }

  /** Returns an installed extension. @throws AppError `not_found`, `storage_failed` */
  async get(name: string): Promise<Installed> {
    const found = isName(name) ? await this.#read(name) : undefined
    return found ?? this.#missing(name)
  }

  /**
   * Installs the files of the folder `content` with their record. A replacement keeps the old `enabled`.
   * @throws AppError `conflict` when the name is taken and `replaces` is false, or `shelfLimit` is reached;
   * `storage_full`, `storage_failed`; errors of the file system
   */
  put(record: ExtensionRecord, content: string, { replaces }: { readonly replaces: boolean }): Promise<Installed> {
    return this.#changes.run(async () => {
      const { name } = record
      const before = await this.#read(name)
      if (before !== undefined && !replaces) throw this.#taken(name)
      const isFull = before === undefined && (await namesIn(join(this.#root, this.#kind))).length >= shelfLimit
      if (isFull) throw new AppError('conflict', `There are ${shelfLimit} installed ${this.#kind}: remove one first`)
      const enabled = before?.record.enabled ?? record.enabled
      const made = await makeWorkFolder(this.#root)
      try {
        await rename(content, join(made, 'content'))
        await writeRecord(made, { ...record, enabled })
        await this.#swapIn(name, made)
      } finally {
        // `#swapIn` moves `made`, so `made` still exists only after a failure.
        await removeWorkFolder(made)
      }
      return this.get(name)
    })
  }

  /** Enables or disables an extension. @throws AppError `not_found`, `storage_full`, `storage_failed` */
  setEnabled(name: string, enabled: boolean): Promise<void> {
    return this.#changes.run(async () => {
      const { record } = await this.get(name)
      await writeRecord(this.#place(name), { ...record, enabled })
    })
  }

  /** Removes an extension. @throws AppError `not_found`, `storage_full`, `storage_failed`; errors of the file system */
  remove(name: string): Promise<void> {
    return this.#changes.run(async () => {
      await this.get(name)
      const gone = await makeWorkFolder(this.#root)
      await rename(this.#place(name), join(gone, 'removed'))
      await syncFolder(join(this.#root, this.#kind))
      await removeTree(gone)
    })
  }

  /** Repairs replacements that a killed server did not finish. Call it once, before other methods. */
  async recover(): Promise<void> {
    const folder = join(this.#root, this.#kind)
    for (const previous of await namesIn(folder)) {
      const [, name] = previousShape.exec(previous) ?? []
      if (name === undefined) continue
      const path = join(folder, previous)
      if (await isThere(join(folder, name))) await removeTree(path)
      else await rename(path, join(folder, name))
    }
  }

  async #swapIn(name: string, made: string): Promise<void> {
    const folder = join(this.#root, this.#kind)
    await makeFolder(folder, ownFolder)
    const previous = join(folder, `.${name}.previous`)
    const place = this.#place(name)
    await removeTree(previous)
    const isReplaced = await isThere(place)
    if (isReplaced) await rename(place, previous)
    await rename(made, place).catch(async (thrown: unknown) => {
      if (isReplaced) await rename(previous, place)
      throw thrown
    })
    await syncFolder(folder)
    await removeTree(previous)
  }

  async #read(name: string): Promise<Installed | undefined> {
    const stored = await readJsonFile(join(this.#place(name), 'record.json'))
    if (stored === undefined) return undefined
    const parsed = parse(ExtensionRecord, objectOf(stored)['record'])
    if (!parsed.ok) throw new AppError('storage_failed', `The record of "${name}" cannot be read`)
    return { record: parsed.value, folder: join(this.#place(name), 'content') }
  }

  #place(name: string): string {
    return join(this.#root, this.#kind, name)
  }

  #missing(name: string): never {
    const what = this.#kind === 'skills' ? 'Skill' : 'Plugin'
    throw new AppError('not_found', `${what} '${name.slice(0, nameLimit)}' is not installed`)
  }

  #taken(name: string): AppError {
    const what = this.#kind === 'skills' ? 'Skill' : 'Plugin'
    return new AppError('conflict', `${what} '${name}' is already installed. Use force=true to overwrite.`)
  }
}

async function writeRecord(folder: string, record: ExtensionRecord): Promise<void> {
  await writeJsonFile(join(folder, 'record.json'), { version: 1, record })
}

export function isName(name: string): boolean {
  return name.length <= nameLimit && nameForm.test(name)
}

/** Makes a work folder, which the caller removes. If the server is killed first, its next start removes the folder. */
export async function makeWorkFolder(root: string): Promise<string> {
  const folder = join(root, 'work', randomUUID())
  await failsAsStorage('Cannot make a folder for the installation', () => makeFolder(folder, ownFolder))
  return folder
}

export async function removeWorkFolder(folder: string): Promise<void> {
  await removeTree(folder)
}

/** Removes the work folders of a killed server. Call it while no installation runs. */
export async function emptyWork(root: string): Promise<void> {
  for (const name of await namesIn(join(root, 'work'))) {
    if (workShape.test(name)) await removeTree(join(root, 'work', name))
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await isThere(folder)) ? readdir(folder) : []
}
