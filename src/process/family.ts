/**
 * All processes that came from one we started, found by what they cannot easily shed, and killed until none is left.
 *
 * A member is whoever carries a marker of ours in its environment, was seen as a member before, is a child of a member,
 * or is in a member's session: `startChild` begins a session of its own, so everything in it is ours (and a process
 * group never reaches beyond its session). Whoever leaves the session and loses its parent is still marked; only what
 * clears its environment as well, before we ever looked, escapes, and a cgroup finds even that. Never a member: this
 * process, its ancestors, and what shares a session with it.
 */
import { sleep } from '../base/wait.ts'
import { readProcess, signalProcess, type ProcessEntry } from './proc.ts'
import { processTable } from './process-table.ts'

export interface FamilyOptions {
  /** Whether a marker is one of this family. */
  readonly isMarked: (marker: string) => boolean
  /** The first member, which leads a session and is alive now; without it the search begins with what is marked. */
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
  /** Start times of members by pid: every one that was seen. */
  readonly #known = new Map<number, number>()
  /** Nobody of the family is older. */
  readonly #firstStart: number

  constructor(options: FamilyOptions) {
    this.#options = options
    this.#proc = options.proc ?? '/proc'
    const root = options.rootPid === undefined ? undefined : readProcess(this.#proc, options.rootPid)
    this.#firstStart = root?.start ?? 0
    if (root !== undefined) this.#known.set(root.pid, root.start)
  }

  /**
   * The members that are alive now, or undefined where there is no /proc. They are recognised again later.
   * `rootJustExited` is for the moment in which the number of the first member cannot be in use again: what is in its
   * session is taken without further proof.
   */
  async find({ rootJustExited = false } = {}): Promise<ProcessEntry[] | undefined> {
    const entries = await processTable(this.#proc).read()
    if (entries === undefined) return undefined
    const candidates = withoutOurs(entries, process.pid)
    const members = selectFamily(candidates, await this.#findSeeds(candidates, rootJustExited))
    for (const { pid, start } of members) this.#known.set(pid, start)
    return members
  }

  signal(members: readonly ProcessEntry[], signal: NodeJS.Signals): void {
    for (const member of members) signalProcess(this.#proc, member, signal)
  }

  /**
   * Kills until two searches in a row find nobody, or `limitMs` have passed.
   * Returns who is left: processes that the system does not let us kill, or does not get rid of. Who is spared stays.
   */
  async kill({ limitMs, spared = [] }: KillOptions): Promise<ProcessEntry[]> {
    const end = performance.now() + limitMs
    const isSpared = (one: ProcessEntry): boolean => spared.some(({ pid, start }) => pid === one.pid && start === one.start)
    for (let empty = 0; ; await sleep(5)) {
      const members = (await this.find() ?? []).filter((member) => !isSpared(member))
      empty = members.length === 0 ? empty + 1 : 0
      if (empty === 2) return []
      if (members.length > 0 && performance.now() > end) return members
      this.signal(members, 'SIGKILL')
    }
  }

  async #findSeeds(candidates: readonly ProcessEntry[], rootJustExited: boolean): Promise<Set<number>> {
    const isSeen = ({ pid, start, session }: ProcessEntry): boolean =>
      this.#known.get(pid) === start || (rootJustExited && session === this.#options.rootPid)
    const young = candidates.filter(({ start }) => start >= this.#firstStart)
    const marked = await processTable(this.#proc).selectMarked(young, this.#options.isMarked)
    return new Set([...young.filter(isSeen), ...marked].map(({ pid }) => pid))
  }
}

/** The seeds among the entries, and everybody who hangs on them by parent or session. */
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

/** Without a process, its ancestors and its session: a server may itself have been started under a marker. */
export function withoutOurs(entries: readonly ProcessEntry[], ourPid: number): ProcessEntry[] {
  const byPid = new Map(entries.map((entry) => [entry.pid, entry]))
  const ancestors = new Set<number>()
  const ours = byPid.get(ourPid)
  for (let at = ours; at !== undefined && !ancestors.has(at.pid); at = byPid.get(at.ppid)) {
    ancestors.add(at.pid)
  }
  return entries.filter(({ pid, session }) => !ancestors.has(pid) && session !== ours?.session)
}
