/**
 * Finds the descendants of a process that this server started, and kills them within a time limit.
 *
 * A process is a member if its environment has a marker (marker.ts) of the family, if its parent is a member, or if it
 * is in the session of a member. This server, its ancestors and the processes of its session are never members.
 */
import { sleep } from '../base/wait.ts'
import { readProcess, readProcesses, signalProcess, type ProcessEntry } from './proc.ts'
import { processTable } from './process-table.ts'

export interface FamilyOptions {
  /** True for a value of AGENT_SERVER_CHILD that processes of this family have. */
  readonly isMarked: (marker: string) => boolean
  /** The pid of the first member: a living session leader (setsid(2)). Without it, a search begins with the markers. */
  readonly rootPid?: number
  /** Where proc(5) is mounted. Default `/proc`. */
  readonly proc?: string | undefined
}

export interface KillOptions {
  readonly limitMs: number
  readonly spared?: readonly ProcessEntry[]
}

export class Family {
  readonly #options: FamilyOptions
  readonly #proc: string
  /** By pid, the start time (in clock ticks since boot) of each member that any search has found. */
  readonly #known = new Map<number, number>()
  /** The start time of the first member; 0 if there is none. The marker of an older process is not read. */
  readonly #firstStart: number

  constructor(options: FamilyOptions) {
    this.#options = options
    this.#proc = options.proc ?? '/proc'
    const root = options.rootPid === undefined ? undefined : readProcess(this.#proc, options.rootPid)
    this.#firstStart = root?.start ?? 0
    if (root !== undefined) this.#known.set(root.pid, root.start)
  }

  /**
   * Returns the living members, and remembers them for later searches. Returns undefined without /proc.
   * With `rootJustExited` (the first member has just exited), all processes left in its session are members too.
   */
  async find({ rootJustExited = false } = {}): Promise<ProcessEntry[] | undefined> {
    const entries = await processTable(this.#proc).read()
    return entries === undefined ? undefined : this.#select(entries, rootJustExited)
  }

  signal(members: readonly ProcessEntry[], signal: NodeJS.Signals): void {
    for (const member of members) signalProcess(this.#proc, member, signal)
  }

  /**
   * Kills the members that are not `spared`, until two searches in a row find none or `limitMs` have passed. Returns
   * the members that are still alive. The second search reads only processes that are new since the first search: an
   * older process cannot become a member.
   */
  async kill({ limitMs, spared = [] }: KillOptions): Promise<ProcessEntry[]> {
    const end = performance.now() + limitMs
    const isSpared = (one: ProcessEntry): boolean => {
      return spared.some(({ pid, start }) => pid === one.pid && start === one.start)
    }
    let seen = new Map<number, ProcessEntry>()
    for (let empty = 0; ; await sleep(5)) {
      const read = empty === 0 ? processTable(this.#proc).read() : readProcesses(this.#proc, seen)
      const entries = await read ?? []
      seen = new Map(entries.map((entry) => [entry.pid, entry]))
      const members = (await this.#select(entries, false)).filter((member) => !isSpared(member))
      empty = members.length === 0 ? empty + 1 : 0
      if (empty === 2) return []
      if (members.length > 0 && performance.now() > end) return members
      this.signal(members, 'SIGKILL')
    }
  }

  /** Returns the members among all processes of the machine, and remembers them. */
  async #select(entries: readonly ProcessEntry[], rootJustExited: boolean): Promise<ProcessEntry[]> {
    const candidates = withoutOurs(entries, process.pid)
    const members = selectFamily(candidates, await this.#findSeeds(candidates, rootJustExited))
    for (const { pid, start } of members) this.#known.set(pid, start)
    return members
  }

  async #findSeeds(candidates: readonly ProcessEntry[], rootJustExited: boolean): Promise<Set<number>> {
    const isSeen = ({ pid, start, session }: ProcessEntry): boolean =>
      this.#known.get(pid) === start || (rootJustExited && session === this.#options.rootPid)
    const young = candidates.filter(({ start }) => start >= this.#firstStart)
    const marked = await processTable(this.#proc).selectMarked(young, this.#options.isMarked)
    return new Set([...young.filter(isSeen), ...marked].map(({ pid }) => pid))
  }
}

/** Returns the members: the processes in `seeds`, each child of a member, and each process in a member's session. */
export function selectFamily(entries: readonly ProcessEntry[], seeds: ReadonlySet<number>): ProcessEntry[] {
  const members = new Set(seeds)
  const sessions = new Set(entries.filter(({ pid }) => seeds.has(pid)).map(({ session }) => session))
  for (let before = -1; before < members.size;) {
    before = members.size
    for (const { pid, ppid, session } of entries) {
      if (!members.has(pid) && !members.has(ppid) && !sessions.has(session)) continue
      members.add(pid)
      sessions.add(session)
    }
  }
  return entries.filter(({ pid }) => members.has(pid))
}

/** Leaves out this server, its ancestors and its session. Their environment may have a marker of another server. */
export function withoutOurs(entries: readonly ProcessEntry[], ourPid: number): ProcessEntry[] {
  const byPid = new Map(entries.map((entry) => [entry.pid, entry]))
  const ancestors = new Set<number>()
  const ours = byPid.get(ourPid)
  for (let at = ours; at !== undefined && !ancestors.has(at.pid); at = byPid.get(at.ppid)) {
    ancestors.add(at.pid)
  }
  return entries.filter(({ pid, session }) => !ancestors.has(pid) && session !== ours?.session)
}
