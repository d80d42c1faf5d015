/**
 * A file that says which mutations were killed, so that a run that was ended goes on where it stopped.
 *
 * One line for each killed mutation: the digest of its edit and its tests, then file and promise for a reader.
 * A mutation that was changed since has another digest and is tried again. The file says nothing about the source that
 * a mutation was tried on: remove it to try all of them.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import type { Mutation } from './mutation.ts'
import type { Tried } from './table.ts'

export class KilledRecord {
  readonly #path: string
  readonly #killed: ReadonlySet<string>

  /** @throws Error when the file is there and cannot be read */
  constructor(path: string) {
    this.#path = path
    this.#killed = new Set(linesOf(path).map((line) => line.slice(0, line.indexOf(' '))))
  }

  /** True when an earlier run has recorded that this mutation was killed. */
  has(mutation: Mutation): boolean {
    return this.#killed.has(digestOf(mutation))
  }

  /** Writes a kill down at once; another verdict leaves the file as it is. */
  add({ mutation, outcome }: Tried): void {
    if (outcome.verdict !== 'killed') return
    appendFileSync(this.#path, `${digestOf(mutation)} ${mutation.file}: ${mutation.promise}\n`)
  }
}

function digestOf({ file, old, new: text, tests }: Mutation): string {
  return createHash('sha256').update(JSON.stringify([file, old, text, tests])).digest('hex').slice(0, 16)
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter((line) => line !== '')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
