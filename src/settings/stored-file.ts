/**
 * A JSON file of the data folder as a value in memory: read once, changed by one writer at a time, replaced as a whole.
 *
 * A changed value is visible when it is on disk. An unreadable file is not replaced: each use throws
 * `settings_unreadable` until the file is repaired. After `Changes.close` no file is changed, because another server
 * may then use the data folder.
 */
import { basename } from 'node:path'
import { AppError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { readJsonFile, writeJsonFile } from '../base/json-file.ts'
import { keysOfTokens } from './key-ids.ts'

export interface StoredFile<T> {
  /** Returns the value. @throws AppError `settings_unreadable` */
  read(): Promise<T>
  /**
   * Replaces the value by the result of `change`. Resolves when the result is on disk. Writes nothing if `change`
   * returns the object that it got.
   * @throws the errors of `change` and of `writeJsonFile`; AppError `settings_unreadable`, and `unavailable` after
   * `Changes.close`. After an error, `read` returns the old value.
   */
  update(change: (current: T) => T | Promise<T>): Promise<T>
  /** Writes the value again, if the file exists: `encode` may seal with a new key. @throws the errors of `update` */
  rewrite(): Promise<void>
}

/** Runs the changes of one server's stored files. `close` waits for running changes and refuses further changes. */
export class Changes {
  readonly #underWay = new Set<Promise<unknown>>()
  #isClosed = false

  /** Runs a change. @throws AppError `unavailable` after `close` */
  async run<R>(change: () => Promise<R>): Promise<R> {
    if (this.#isClosed) throw new AppError('unavailable', 'The server is closed')
    const result = change()
    this.#underWay.add(result)
    return result.finally(() => this.#underWay.delete(result))
  }

  /** Refuses later changes, and resolves when the changes under way have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#underWay) // The caller of each change gets its error.
  }
}

type Content = Readonly<Record<string, unknown>>

export interface StoredFileOptions<T> {
  readonly path: string
  /** The number of the file's format, in its member `version`. A file with another number is refused. */
  readonly version: number
  /** Returns the value while there is no file. */
  readonly initial: () => T
  /** Decodes the content. Any error that it throws means that the content is wrong or a sealing key is missing. */
  readonly decode: (content: Content) => T
  readonly encode: (value: T) => Record<string, unknown>
  /** Registers the secrets of the stored value with the masker. Called after a reading, and after a failed write. */
  readonly mask?: ((stored: T) => void) | undefined
  /** Ids of the sealing keys that `decode` has, so that an error can name the missing keys. */
  readonly keyIds?: readonly string[]
  /** Called by `update` when the changed value is on disk. */
  readonly onChange?: ((before: T, after: T) => void) | undefined
  /** Runs the changes of all stored files of a server. Default: a `Changes` for this file alone. */
  readonly changes?: Changes | undefined
}

export function createStoredFile<T>(options: StoredFileOptions<T>): StoredFile<T> {
  const { path, version, initial, encode, mask, onChange, changes = new Changes() } = options
  let loaded: { readonly value: T; readonly isStored: boolean } | undefined
  let last: Promise<unknown> = Promise.resolve()

  const load = async (): Promise<T> => {
    if (loaded !== undefined) return loaded.value
    const content = await readVersioned(path, version)
    // If another call has loaded or changed the value meanwhile, that value stays.
    loaded ??= content === undefined
      ? { value: initial(), isStored: false }
      : { value: decodeOrRefuse(content, options), isStored: true }
    return loaded.value
  }
  const write = async (value: T): Promise<T> => {
    await writeJsonFile(path, { version, ...encode(value) })
    loaded = { value, isStored: true }
    return value
  }
  const change = async (make: (current: T) => T | Promise<T>): Promise<T> => {
    const current = await load()
    const next = await make(current)
    if (next === current) return current
    try {
      await write(next)
    } catch (thrown) {
      mask?.(current) // `make` has registered the secrets of `next` in their place.
      throw thrown
    }
    onChange?.(current, next)
    return next
  }
  const inTurn = <R>(work: () => Promise<R>): Promise<R> => {
    const result = changes.run(() => last.then(work))
    last = result.catch(() => undefined) // The caller gets the error from `result`.
    return result
  }

  return {
    read: load,
    update: (make) => inTurn(() => change(make)),
    rewrite: () => inTurn(async () => {
      const value = await load()
      if (loaded?.isStored === true) await write(value)
    }),
  }
}

/** Returns the content of a file; undefined when the file is missing. @throws AppError `settings_unreadable` */
export async function readVersioned(path: string, version: number): Promise<Content | undefined> {
  let content: unknown
  try {
    content = await readJsonFile(path)
  } catch {
    // The cause is left out, because its message may quote the content.
    throw unreadable(path, 'it is damaged or may not be read')
  }
  if (content === undefined) return undefined
  const found = isObject(content) ? content['version'] : undefined
  if (!isObject(content) || typeof found !== 'number') throw unreadable(path, 'it has no version number')
  if (found !== version) throw unreadable(path, `it has version ${found}, expected ${version}`)
  return content
}

export function unreadable(path: string, why: string): AppError {
  return new AppError('settings_unreadable', `Cannot read "${basename(path)}": ${why}; it was left as it is`)
}

function decodeOrRefuse<T>(content: Content, { path, decode, mask, keyIds = [] }: StoredFileOptions<T>): T {
  try {
    const value = decode(content)
    mask?.(value)
    return value
  } catch {
    const missing = [...keysOfTokens(content)].filter((id) => !keyIds.includes(id))
    const isSealed = keyIds.length > 0 && missing.length > 0
    const subject = missing.length === 1 ? 'key' : 'keys'
    const unknown = `it was sealed with the ${subject} ${missing.join(', ')}, which this server was not given`
    const other = 'its content is not in the form that this server writes, or was sealed with another key'
    throw unreadable(path, isSealed ? unknown : other)
  }
}
