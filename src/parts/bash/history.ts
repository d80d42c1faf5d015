/**
 * The history of commands: an event for each command of a client and for each piece of its output, oldest first.
 *
 * The history is in memory and in `bash-events.jsonl`. An appended event is not synced, so a power cut may remove the
 * last events. When the events exceed `limitBytes`, the oldest are removed, until at most half of `limitBytes` or only
 * the newest event is left.
 *
 * The position of an event is its number. `open` numbers the events of the file from 0 on, and `add` goes on counting.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errorOf, systemCodeOf } from '../../base/errors.ts'
import { parseOwnJson } from '../../base/json.ts'
import { objectOf, textOf } from '../../base/fields.ts'
import { turnBytes } from '../../base/json-turns.ts'
import type { Log } from '../../base/log.ts'
import { appendLoosely, writeFileAtomically } from '../../base/own-files.ts'
import { readText } from '../../base/read-files.ts'
import { parseMicros } from '../../base/stamp.ts'

export interface StoredEvent {
  readonly id: string
  readonly kind: string
  readonly commandId: string | undefined
  readonly order: number
  /** Stands for the WebSocket that sent the command; undefined for a REST request, and for events from the file. */
  readonly sender: symbol | undefined
  /** Time in microseconds since 1970. */
  readonly micros: number
  readonly json: Buffer
}

export interface HistoryOptions {
  readonly path: string
  readonly limitBytes: number
  readonly log: Log
}

export class History {
  readonly #options: HistoryOptions
  #events: StoredEvent[] = []
  readonly #byId = new Map<string, StoredEvent>()
  #bytes = 0
  /** How many events (always the oldest) were removed since `open`. */
  #dropped = 0
  #writing: Promise<void> = Promise.resolve()
  readonly #listeners = new Set<() => void>()

  private constructor(options: HistoryOptions) {
    this.#options = options
  }

  static async open(options: HistoryOptions): Promise<History> {
    const history = new History(options)
    let chars = 0
    for (const line of (await readText(options.path, Infinity) ?? '').split('\n')) {
      const event = eventOf(line)
      if (event !== undefined) history.#keep(event)
      chars += line.length
      if (chars < turnBytes) continue
      chars = 0
      await nextTurn()
    }
    return history
  }

  get events(): readonly StoredEvent[] {
    return this.#events
  }

  find(id: string): StoredEvent | undefined {
    return this.#byId.get(id)
  }

  /** The position of the oldest event in the history; for an empty history, the same as `end`. */
  get first(): number {
    return this.#dropped
  }

  /** The position that the next new event will have. */
  get end(): number {
    return this.#dropped + this.#events.length
  }

  at(position: number): StoredEvent | undefined {
    return this.#events[position - this.#dropped]
  }

  /** Adds an event of a command, and writes it to the file. `sender` is described at `StoredEvent.sender`. */
  add(value: object, sender?: symbol): void {
    const line = JSON.stringify(value)
    const event = eventOf(line, sender)
    if (event === undefined) throw new TypeError('Expected an event of a command')
    this.#keep(event)
    if (this.#bytes > this.#options.limitBytes) this.#dropOldest()
    else this.#write(() => appendLoosely(this.#options.path, `${line}\n`))
    for (const listener of this.#listeners) listener()
  }

  /** Removes all events, also from the file, and returns their number. */
  async clear(): Promise<number> {
    const count = this.#events.length
    this.#forget(count)
    this.#write(() => writeFileAtomically(this.#options.path, ''))
    await this.#writing
    return count
  }

  /** Calls `listener` after each new event. Returns a function that removes the listener. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Waits until all writes to the file have ended. A failed write is logged, not thrown. */
  async close(): Promise<void> {
    await this.#writing
  }

  #keep(event: StoredEvent): void {
    this.#events.push(event)
    this.#byId.set(event.id, event)
    this.#bytes += event.json.length + 1
  }

  #dropOldest(): void {
    let count = 0
    for (let left = this.#bytes; left > this.#options.limitBytes / 2 && count < this.#events.length - 1; count++) {
      left -= (this.#events[count]?.json.length ?? 0) + 1
    }
    this.#forget(count)
    const kept = this.#events.map(({ json }) => `${json.toString()}\n`).join('')
    this.#write(() => writeFileAtomically(this.#options.path, kept))
  }

  #forget(count: number): void {
    for (const { id, json } of this.#events.splice(0, count)) {
      this.#byId.delete(id)
      this.#bytes -= json.length + 1
    }
    this.#dropped += count
  }

  #write(write: () => Promise<void>): void {
    this.#writing = this.#writing.then(write).catch((thrown: unknown) => {
      const code = systemCodeOf(thrown)
      const error = code === undefined ? errorOf(thrown) : undefined
      this.#options.log.warn('The history of commands could not be written', { code, error })
    })
  }
}

function eventOf(line: string, sender?: symbol): StoredEvent | undefined {
  try {
    const { id, kind, command_id, order, timestamp } = objectOf(parseOwnJson(line))
    if (typeof id !== 'string' || typeof kind !== 'string' || typeof timestamp !== 'string') return undefined
    const commandId = textOf(command_id)
    const micros = parseMicros(timestamp) ?? 0
    const number = typeof order === 'number' ? order : 0
    return { id, kind, commandId, order: number, sender, micros, json: Buffer.from(line) }
  } catch {
    return undefined // A damaged line is left out.
  }
}
