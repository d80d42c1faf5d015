/**
 * The file of one webhook: how far each conversation was delivered, and the dead letters.
 *
 *     {"format": 1, "since": microseconds}                    events before this time are never sent
 *     {"conversation", "seq", "last", "told"}                 a `Position`; the last line of a conversation counts
 *     {"gone": conversation}                                  deleted, and nothing is left to deliver
 *     {"letter": {...}}   {"removed": letter id}              a new dead letter, a removed one
 *
 * A position is appended without a sync: if a crash loses the line, some events are delivered again. The position of a
 * conversation that is being removed is synced. A damaged line is ignored.
 */
import { numberOf, objectOf, textOf } from '../../base/fields.ts'
import { parseOwnJson } from '../../base/json.ts'
import { appendLoosely, writeFileAtomically, writeSynced } from '../../base/own-files.ts'
import { readText } from '../../base/read-files.ts'
import { readLetter, type DeadLetter } from './dead-letters.ts'

/** How far a conversation was delivered to the webhook. */
export interface Position {
  /** The sequence number (seq) of the next event to deliver. */
  readonly seq: number
  /** The id of the newest event in the last batch that was delivered or given up; undefined if there is none. */
  readonly last: string | undefined
  /** The version (`versionOf` in lane.ts) of the conversation's state that was sent or given up last, if any. */
  readonly told: string | undefined
}

/** The most bytes of a file that `open` reads. */
const limitBytes = 256 * 1024 * 1024
/** The file is rewritten when it has more lines than this number plus twice the number of positions and letters. */
const spareLines = 2000

/** How a line is written: appended with a sync, appended without a sync, or by a durable rewrite of the file. */
type Writing = 'append' | 'loosely' | 'rewrite'

export class Journal {
  /** Events before this time, in microseconds since the epoch, are not sent. */
  readonly since: number
  readonly #path: string
  readonly #positions = new Map<string, Position>()
  /** The dead letters (records of deliveries that were given up) by id, oldest first. */
  readonly #letters = new Map<string, DeadLetter>()
  #lines = 0
  #writing: Promise<void> = Promise.resolve()

  /**
   * Opens the file of a webhook, or creates it.
   * @throws AppError `storage_failed`, `storage_full`; the system's error when the file cannot be read; RangeError when
   * it has more than `limitBytes`
   */
  static async open(path: string, nowMicros: number): Promise<Journal> {
    const lines = await linesOf(path)
    const journal = new Journal(path, numberOf(lines[0]?.['since']) ?? nowMicros)
    for (const line of lines) journal.#apply(line)
    await journal.#rewrite()
    return journal
  }

  private constructor(path: string, since: number) {
    this.#path = path
    this.since = since
  }

  position(conversation: string): Position | undefined {
    return this.#positions.get(conversation)
  }

  get letters(): readonly DeadLetter[] {
    return [...this.#letters.values()]
  }

  get letterCount(): number {
    return this.#letters.size
  }

  letter(id: string): DeadLetter | undefined {
    return this.#letters.get(id)
  }

  /** Durably records the position of a conversation that is being removed. @throws AppError or a system error */
  settle(conversation: string, { seq, last, told }: Position): Promise<void> {
    return this.#write({ conversation, seq, last, told }, 'append')
  }

  /** Records how far a conversation was delivered. A failed write is ignored. */
  async advance(conversation: string, { seq, last, told }: Position): Promise<void> {
    // If the line is lost, only some events are delivered again after a restart.
    await this.#write({ conversation, seq, last, told }, 'loosely').catch(ignore)
  }

  /** Records that a deleted conversation has nothing left to deliver. A failed write is ignored. */
  async forget(conversation: string): Promise<void> {
    await this.#write({ gone: conversation }, 'loosely').catch(ignore) // Then a delivery may be repeated.
  }

  /** Durably adds a dead letter, or replaces the letter with the same id. @throws AppError or a system error */
  addLetter(letter: DeadLetter): Promise<void> {
    return this.#write({ letter }, 'rewrite')
  }

  /** Durably removes a dead letter. @throws AppError or a system error */
  removeLetter(id: string): Promise<void> {
    return this.#write({ removed: id }, 'rewrite')
  }

  /** Waits for the last write. Idempotent. */
  async close(): Promise<void> {
    await this.#writing.catch(ignore) // The caller of the write got the error.
  }

  #apply(line: Readonly<Record<string, unknown>>): void {
    const { conversation, seq, last, told, gone, letter, removed } = line
    if (typeof conversation === 'string' && typeof seq === 'number') {
      this.#positions.set(conversation, { seq, last: textOf(last), told: textOf(told) })
    }
    if (typeof gone === 'string') this.#positions.delete(gone)
    if (typeof removed === 'string') this.#letters.delete(removed)
    const read = readLetter(letter)
    if (read !== undefined) this.#letters.set(read.id, read)
  }

  /** Applies a line in memory, then writes it after all earlier writes. Durable unless `how` is `loosely`. */
  #write(line: Readonly<Record<string, unknown>>, how: Writing): Promise<void> {
    this.#apply(line)
    // An error of the earlier write has reached the caller of that write, and does not stop this write.
    const writing = this.#writing.catch(ignore).then(() => this.#append(`${JSON.stringify(line)}\n`, how))
    this.#writing = writing
    writing.catch(ignore) // A rejection that no caller handles would end the process.
    return writing
  }

  async #append(text: string, how: Writing): Promise<void> {
    const isLong = this.#lines > 2 * (this.#positions.size + this.#letters.size) + spareLines
    if (how === 'rewrite' || isLong) return this.#rewrite()
    if (how === 'append') await writeSynced(this.#path, text, 'a')
    else await appendLoosely(this.#path, text)
    this.#lines++
  }

  /** Replaces the file by a file with only the current positions and letters, durably. */
  async #rewrite(): Promise<void> {
    const positions = [...this.#positions].map(([conversation, position]) => ({ conversation, ...position }))
    const letters = this.letters.map((letter) => ({ letter }))
    const lines = [{ format: 1, since: this.since }, ...positions, ...letters]
    await writeFileAtomically(this.#path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    this.#lines = lines.length
  }
}

async function linesOf(path: string): Promise<Readonly<Record<string, unknown>>[]> {
  return ((await readText(path, limitBytes)) ?? '').split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [objectOf(parseOwnJson(line))]
    } catch {
      return [] // A damaged line, such as a line that a crash cut, is left out.
    }
  })
}

function ignore(): void {}
