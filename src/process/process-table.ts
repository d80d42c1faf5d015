/**
 * A list of the processes on this machine, shared by searches that run at the same time.
 *
 * A call of `read` while a list is being made gets the next list. So each caller's list has all processes that were
 * started before the call.
 */
import { readMarker, readProcesses, mapInTurns, type ProcessEntry } from './proc.ts'

/** The start time of a process, and the value of AGENT_SERVER_CHILD in its environment (undefined if it is not set). */
interface KnownMarker {
  readonly start: number
  readonly marker: string | undefined
}

export class ProcessTable {
  readonly #proc: string
  #running: Promise<ProcessEntry[] | undefined> | undefined
  #next: Promise<ProcessEntry[] | undefined> | undefined
  /** The markers that were read, by pid. The marker of an ended process is removed when the next list is made. */
  readonly #markers = new Map<number, KnownMarker>()

  constructor(proc: string) {
    this.#proc = proc
  }

  /** Returns all living processes, without zombies; undefined without /proc. */
  read(): Promise<ProcessEntry[] | undefined> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running.then(() => this.#start())
    return this.#next
  }

  /** Returns the processes with a readable marker for which `isMarked` returns true. */
  async selectMarked(
    entries: readonly ProcessEntry[], isMarked: (marker: string) => boolean,
  ): Promise<ProcessEntry[]> {
    const markers = await mapInTurns(entries, (entry) => this.#markerOf(entry))
    return entries.filter((_, index) => {
      const marker = markers[index]
      return marker !== undefined && isMarked(marker)
    })
  }

  #start(): Promise<ProcessEntry[] | undefined> {
    this.#next = undefined
    this.#running = this.#scan().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #scan(): Promise<ProcessEntry[] | undefined> {
    const entries = await readProcesses(this.#proc)
    const starts = new Map(entries?.map(({ pid, start }) => [pid, start]))
    for (const [pid, { start }] of this.#markers) {
      if (starts.get(pid) !== start) this.#markers.delete(pid)
    }
    return entries
  }

  #markerOf({ pid, start }: ProcessEntry): string | undefined {
    const known = this.#markers.get(pid)
    if (known?.start === start) return known.marker
    const read = readMarker(this.#proc, pid)
    if (read !== 'unknown') this.#markers.set(pid, { start, marker: read.marker })
    return read === 'unknown' ? undefined : read.marker
  }
}

const tables = new Map<string, ProcessTable>()

/** Returns the table for a mount of proc(5). This server has one table for each mount. */
export function processTable(proc: string): ProcessTable {
  const table = tables.get(proc) ?? new ProcessTable(proc)
  tables.set(proc, table)
  return table
}
