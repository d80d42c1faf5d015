/**
 * Measures, for each named key with a limit of disk space, the size of the conversations that the key has made.
 *
 * A conversation is measured again if it is open (in memory), was open at the last measurement, or changed since then.
 */
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../base/stamp.ts'
import type { UnusedConversations } from '../../conversation/list/unused.ts'
import type { ListEntry } from '../../conversation/list/sorted-entries.ts'
import type { NamedKeys } from '../../http/principal.ts'
import { folderBytes } from './folder-size.ts'
import { Measuring } from './measuring.ts'

export interface KeyUseOptions {
  readonly dataDir: string
  readonly clock: Clock
  readonly listed: Pick<UnusedConversations, 'entries' | 'isOpen'>
  readonly namedKeys: NamedKeys
}

/** The size of a closed conversation: one that is not in memory. */
interface Size {
  readonly bytes: number
  /** The conversation's list entry when it was measured. A change makes a new entry, and so a new measurement. */
  readonly entry: ListEntry
}

/** The interval at which measurements begin. */
const everyMs = 5000
/** The most conversations that a measurement looks at in one turn of the event loop. */
const turnLength = 1000

export class KeyUse {
  readonly #options: KeyUseOptions
  readonly #measuring: Measuring
  /** The sizes of measured conversations that the last measurement found closed (not in memory), by conversation id. */
  #closed: ReadonlyMap<string, Size> = new Map()
  /** The bytes, at the last measurement, of the conversations of each key with a limit of disk space, by its name. */
  #sums: ReadonlyMap<string, number> = new Map()

  constructor(options: KeyUseOptions) {
    this.#options = options
    this.#measuring = new Measuring({ everyMs, clock: options.clock, measure: (signal) => this.#measure(signal) })
  }

  /** Returns the bytes of the key's conversations at the last measurement, or 0. Also calls `refresh`. */
  bytesOf(name: string): number {
    this.refresh()
    return this.#sums.get(name) ?? 0
  }

  /** Begins a measurement. Does nothing during another, for a second after a successful one, and after `close`. */
  refresh(): void {
    this.#measuring.refresh()
  }

  /** Resolves when no measurement is under way. */
  idle(): Promise<void> {
    return this.#measuring.idle()
  }

  /** Ends the running measurement, and begins no other measurement. Idempotent. */
  close(): Promise<void> {
    return this.#measuring.close()
  }

  async #measure(signal: AbortSignal): Promise<void> {
    const { listed, namedKeys, dataDir } = this.#options
    const limited = (namedKeys.source?.list() ?? []).filter(({ limits }) => limits.diskBytes !== undefined)
    const sums = new Map(limited.map(({ name }) => [name, 0]))
    const closed = new Map<string, Size>()
    let looked = 0
    for (const entry of sums.size === 0 ? [] : listed.entries()) {
      const { id, madeBy } = entry
      if (++looked % turnLength === 0) await nextTurn()
      const sum = madeBy === undefined ? undefined : sums.get(madeBy)
      if (madeBy === undefined || sum === undefined) continue
      const isOpen = listed.isOpen(id)
      const known = isOpen ? undefined : this.#closed.get(id)
      const bytes = known?.entry === entry
        ? known.bytes
        : await folderBytes(join(dataDir, 'conversations', id), signal)
      if (!isOpen) closed.set(id, { bytes, entry })
      sums.set(madeBy, sum + bytes)
    }
    this.#closed = closed
    this.#sums = sums
  }
}
