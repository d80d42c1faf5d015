/**
 * The named keys of a running server. When a key is revoked or expires, the connections opened with it end too.
 *
 * The folder of the keys is checked every `lookEveryMs` for added and revoked keys. An expired key is refused at once.
 * Its connections end at the next check.
 */
import { rightsOf } from '../../access.ts'
import { errorOf, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { stat } from '../../base/read-files.ts'
import type { KeyLimits, NamedKeySource, Principal } from '../../http/principal.ts'
import { folderOf, namesIn, readKey, removeKey, type StoredKey } from './key-files.ts'
import { digestOf, idIn, isSameDigest } from './key-text.ts'

export interface NamedKeysOptions {
  readonly dataDir: string
  readonly clock: () => number
  readonly log: Log
  /** Called for each change of a key while the server runs. */
  readonly onChange: (change: KeyChange, name: string) => void
  /** Adds the text of a key to the texts that the server masks. */
  readonly hide: (text: string) => void
  /** Starts the part that enforces limits of keys. A new key with limits is refused until the promise has resolved. */
  readonly keepLimits: () => Promise<void>
}

/** `key unusable`: the file of the key cannot be read, or the limits of the key cannot be enforced. */
export type KeyChange = 'key added' | 'key revoked' | 'key unusable' | 'key usable'

interface Holder {
  readonly key: StoredKey
  readonly principal: Principal
  /** The functions that end the connections of the key. */
  readonly held: Set<() => void>
  isHidden: boolean
}

const lookEveryMs = 250
/** After a change, this many further calls of `look` read the keys: the folder's time may not show a second change. */
const freshLooks = 8
/** After an error, one in this many calls of `look` reads the keys again (every 10 s): the cause may be gone. */
const retryLooks = 40

export class OpenKeys implements NamedKeySource {
  readonly #options: NamedKeysOptions
  /** The keys by id. */
  #holders = new Map<string, Holder>()
  /** The names of the keys that were unusable at the last reading. */
  #unusable: ReadonlySet<string> = new Set()
  /** The inode and time of the keys' folder (`stamp`), and the number of calls of `look` since they changed. */
  #seen = { stamp: '', looks: 0 }
  #looking: Promise<void> = Promise.resolve()
  /** False until `open` has read the keys that exist already. `onChange` does not report these keys as added. */
  #isOpen = false
  /** The errors that were logged since the last change of the folder. A repeated error is not logged again. */
  readonly #told = new Set<string>()
  /** True when the last reading of the keys had an error. */
  #hasFailed = false
  readonly #timer: NodeJS.Timeout

  private constructor(options: NamedKeysOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.look(), lookEveryMs)
    this.#timer.unref()
  }

  static async open(options: NamedKeysOptions): Promise<OpenKeys> {
    const keys = new OpenKeys(options)
    await keys.look()
    keys.#isOpen = true
    return keys
  }

  find(candidate: string): Principal | undefined {
    const holder = this.#holders.get(idIn(candidate) ?? '')
    if (holder === undefined || !isSameDigest(digestOf(candidate), holder.key.digest)) return undefined
    if (this.#isOver(holder.key)) return undefined
    if (!holder.isHidden) this.#options.hide(candidate)
    holder.isHidden = true
    return holder.principal
  }

  byId(id: string): Principal | undefined {
    const holder = this.#holders.get(id)
    return holder === undefined || this.#isOver(holder.key) ? undefined : holder.principal
  }

  limitsOf(name: string): KeyLimits | undefined {
    return [...this.#holders.values()].find(({ key }) => key.name === name)?.key.limits
  }

  list(): readonly StoredKey[] {
    return [...this.#holders.values()].map(({ key }) => key).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Removes a key and ends its connections. Returns false for an unknown key. @throws AppError `storage_failed` */
  async revoke(name: string): Promise<boolean> {
    const isRemoved = await removeKey(this.#options.dataDir, name)
    this.#seen = { stamp: '', looks: 0 }
    await this.look()
    return isRemoved
  }

  /**
   * Reads the keys again after a change of the folder (`freshLooks`) or an error (`retryLooks`). Ends the connections
   * of keys that are revoked, expired or unusable.
   */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look())
    return this.#looking
  }

  /** Stops checking the folder, and waits for a running check. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  async #look(): Promise<void> {
    const { dataDir } = this.#options
    // A folder that is missing or cannot be examined has the stamp `-`.
    const stats = await stat(folderOf(dataDir), { bigint: true }).catch(() => undefined)
    const stamp = stats === undefined ? '-' : `${stats.ino} ${stats.mtimeNs}`
    const looks = stamp === this.#seen.stamp ? this.#seen.looks + 1 : 0
    this.#seen = { stamp, looks }
    if (looks === 0) this.#told.clear()
    if (looks <= freshLooks || (this.#hasFailed && looks % retryLooks === 0)) await this.#read()
    for (const holder of this.#holders.values()) if (this.#isOver(holder.key)) end(holder)
  }

  async #read(): Promise<void> {
    this.#hasFailed = false
    const [before, unusableBefore] = [this.#holders, this.#unusable]
    const after = new Map<string, Holder>()
    const names = await this.#names()
    const allBefore = [...this.list().map(({ name }) => name), ...unusableBefore]
    const unusable = new Set(names === undefined ? allBefore : [])
    for (const name of names ?? []) {
      const key = await this.#keyOf(name)
      if (key === 'unusable') unusable.add(name)
      if (key === 'unusable' || key === undefined) continue
      const known = before.get(key.id)
      after.set(key.id, known !== undefined && isSame(known.key, key) ? known : holderOf(key))
    }
    this.#holders = after
    this.#unusable = unusable
    for (const [id, holder] of before) if (after.get(id) !== holder) end(holder)
    if (this.#isOpen) this.#tellChanges(before, unusableBefore)
  }

  #tellChanges(before: ReadonlyMap<string, Holder>, unusableBefore: ReadonlySet<string>): void {
    const { onChange } = this.#options
    const [after, unusable] = [this.#holders, this.#unusable]
    const names = new Set([...after.values()].map(({ key }) => key.name))
    for (const [id, { key: { name } }] of before) {
      if (!after.has(id)) onChange(unusable.has(name) ? 'key unusable' : 'key revoked', name)
    }
    for (const name of unusableBefore) if (!unusable.has(name) && !names.has(name)) onChange('key revoked', name)
    for (const [id, { key: { name } }] of after) {
      if (!before.has(id)) onChange(unusableBefore.has(name) ? 'key usable' : 'key added', name)
    }
  }

  /** Returns the names of the stored keys; undefined if the folder cannot be read. */
  #names(): Promise<readonly string[] | undefined> {
    return namesIn(this.#options.dataDir).catch((thrown: unknown) => {
      this.#tell('The named keys cannot be read: none of them counts', thrown)
      return undefined
    })
  }

  async #keyOf(name: string): Promise<StoredKey | 'unusable' | undefined> {
    try {
      const key = await readKey(this.#options.dataDir, name)
      return key === undefined || await this.#isReady(key) ? key : 'unusable'
    } catch (thrown) {
      this.#tell('A named key cannot be read, and does not count', thrown, name)
      return 'unusable'
    }
  }

  /** Returns false for a key whose limits cannot be enforced. */
  async #isReady({ name, limits }: StoredKey): Promise<boolean> {
    if (Object.values(limits).every((limit) => limit === undefined)) return true
    try {
      await this.#options.keepLimits()
      return true
    } catch (thrown) {
      this.#tell('The limits of a named key cannot be kept, and it does not count', thrown, name)
      return false
    }
  }

  #tell(text: string, thrown: unknown, name?: string): void {
    this.#hasFailed = true
    const fact = [text, name, messageOf(thrown)].join('\n')
    if (!this.#told.has(fact)) this.#options.log.error(text, { name, error: errorOf(thrown) })
    this.#told.add(fact)
  }

  #isOver({ expires }: StoredKey): boolean {
    return expires !== undefined && this.#options.clock() >= expires
  }
}

function holderOf(key: StoredKey): Holder {
  const held = new Set<() => void>()
  const principal: Principal = {
    name: key.name,
    keyId: key.id,
    rights: rightsOf(key.scopes),
    tag: key.tag,
    hold(end) {
      held.add(end)
      return () => void held.delete(end)
    },
  }
  return { key, principal, held, isHidden: false }
}

function isSame(one: StoredKey, other: StoredKey): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function end({ held }: Holder): void {
  const all = [...held]
  held.clear()
  for (const close of all) close()
}
