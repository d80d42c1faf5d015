/**
 * A copy of the undelivered events of a deleted conversation, and of its last ConversationInfo.
 *
 *     {"first": seq of the first event, "info": ConversationInfo}   then one event on each line
 *
 * The copy is removed when nothing is left to deliver and no dead letter needs it.
 */
import { join } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { objectOf, numberOf } from '../../base/fields.ts'
import { parseOwnJson, type JsonObject } from '../../base/json.ts'
import { removeFile, writeFileAtomically } from '../../base/own-files.ts'
import { readdir, readFile } from '../../base/read-files.ts'
import type { Backlog } from './lane.ts'

export interface Remains {
  readonly info: Readonly<Record<string, unknown>>
  readonly events: Backlog
}

export interface NewRemains {
  readonly info: JsonObject
  readonly first: number
  readonly events: readonly Buffer[]
}

/** The copies of deleted conversations for one webhook, in the folder of all webhooks. */
export class RemainsFolder {
  readonly #folder: string
  readonly #name: string

  /** @param name the key of the webhook, with which the names of its files begin */
  constructor(folder: string, name: string) {
    this.#folder = folder
    this.#name = name
  }

  /** Stores the copy of a conversation, durably. @throws AppError `storage_failed`, `storage_full` */
  async write(id: string, { info, first, events }: NewRemains): Promise<void> {
    const head = Buffer.from(JSON.stringify({ first, info }))
    const lines = [head, ...events].flatMap((line) => [line, lineFeed])
    await writeFileAtomically(this.#pathOf(id), Buffer.concat(lines))
  }

  /** Returns the copy of a deleted conversation; undefined if there is none. */
  async read(id: string): Promise<Remains | undefined> {
    const content = await readIfThere(this.#pathOf(id))
    if (content === undefined) return undefined
    const [head = Buffer.alloc(0), ...events] = linesIn(content)
    const { first, info } = objectOf(parseOwnJson(head.toString()))
    return { info: objectOf(info), events: backlogOf(events, numberOf(first) ?? 0) }
  }

  async remove(id: string): Promise<void> {
    await removeFile(this.#pathOf(id))
  }

  /** Returns the ids of the conversations that have a copy. */
  async list(): Promise<readonly string[]> {
    const names = await readdir(this.#folder)
    return names.flatMap((name) => (isRemains.test(name) && name.startsWith(`${this.#name}.`) ? [idIn(name)] : []))
  }

  #pathOf(id: string): string {
    return join(this.#folder, `${this.#name}.${id}.deleted.jsonl`)
  }
}

const lineFeed = Buffer.from('\n')
const isRemains = /^[0-9a-f]+\.[0-9a-f-]{36}\.deleted\.jsonl$/

function idIn(name: string): string {
  return name.split('.')[1] ?? ''
}

function linesIn(content: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let from = 0, to = content.indexOf(10); to !== -1; from = to + 1, to = content.indexOf(10, from)) {
    lines.push(content.subarray(from, to))
  }
  return lines
}

/** Returns a reader of the copied events. The first event has the sequence number `first` in the log. */
function backlogOf(events: readonly Buffer[], first: number): Backlog {
  const from = (seq: number): readonly Buffer[] => events.slice(Math.max(0, seq - first))
  return {
    eventCount: first + events.length,
    bytesFrom: (seq) => from(seq).reduce((sum, json) => sum + json.length, 0),
    async readRange(start, end, limitBytes) {
      if (start < first) throw new AppError('not_found', 'The events were deleted with their conversation')
      const taken: { number: number; json: Buffer }[] = []
      let bytes = 0
      for (const [place, json] of from(start).entries()) {
        const number = start + place
        bytes += json.length
        if (number >= end || (taken.length > 0 && bytes > limitBytes)) break
        taken.push({ number, json })
      }
      return { events: taken, next: (taken.at(-1)?.number ?? end - 1) + 1 }
    },
  }
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}
