/**
 * Starts a child process, and stops it with all its descendants that can be found.
 *
 * `stop` ends stdin, waits, sends SIGTERM to the process group, waits, and sends SIGKILL to the remaining processes.
 * Call `stop` also when the child has ended by itself, to end the processes that it left.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Duplex, type Readable, type Writable } from 'node:stream'
import { AppError } from '../base/errors.ts'
import { sleep, within } from '../base/wait.ts'
import { joinCgroup, type Cgroup } from './cgroup.ts'
import { Family } from './family.ts'
import { isMarker, markerVariable } from './marker.ts'
import type { ProcessEntry } from './proc.ts'
import { explainSpawnError } from './spawn-error.ts'
import { createTail, type Tail } from './tail.ts'

export interface ChildOptions {
  /** A path, or a name that is looked up in the PATH of `env`. */
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd: string
  /** All variables of the child besides AGENT_SERVER_CHILD. None is inherited from the server's environment. */
  readonly env: Readonly<Record<string, string>>
  /** The value of AGENT_SERVER_CHILD (marker.ts): `<instance id of the data folder>/<id of this child>`, unique. */
  readonly marker: string
  /** Adds two pipes: the child reads from descriptor 3 and writes to descriptor 4. Default false. */
  readonly extraPipes?: boolean
  /** The most bytes of the end of stderr that `stderrTail` returns. Default 64 KiB. */
  readonly stderrLimitBytes?: number
  /** The result of `findCgroupParent`; undefined for no cgroup. */
  readonly cgroupParent?: string | undefined
  /** Where proc(5) is mounted. Default `/proc`. */
  readonly proc?: string | undefined
}

export interface ChildExit {
  /** The exit code; null when a signal ended the child. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface StopOptions {
  /** Time that the child's processes have to end after SIGTERM. Default 4 s. */
  readonly graceMs?: number
  /** When this signal is aborted, `stop` no longer waits before it sends SIGKILL. */
  readonly signal?: AbortSignal
  /** Time limit for the child's exit after SIGKILL, and then for the end of its other processes. Default 5 s each. */
  readonly killLimitMs?: number
}

/** Time in milliseconds that a child has to end after the end of its stdin. */
const stdinGraceMs = 300

/** Returns the function `startChild` with a fixed `cgroupParent`. */
export function startChildBelow(cgroupParent: string | undefined): (options: ChildOptions) => Promise<Child> {
  return (options) => startChild({ ...options, cgroupParent })
}

/** Starts a program. @throws AppError `agent_failed`, with the reason; RangeError for a malformed `marker`. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { command, args = [], cwd, env, marker, cgroupParent } = options
  if (!isMarker(marker)) {
    throw new RangeError(`Expected a marker "<instance id>/<child id>", got ${JSON.stringify(marker)}`)
  }
  try {
    const started = spawn(command, [...args], {
      cwd,
      env: { ...env, [markerVariable]: marker },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(options.extraPipes ? ['pipe' as const, 'pipe' as const] : [])],
    })
    if (!hasStreams(started)) throw new TypeError('A child has been started without its pipes')
    const { pid } = started
    if (pid === undefined) throw await failureOf(started)
    // The child joins its cgroup at once, because a process that it has started earlier stays outside of the cgroup.
    const cgroup = cgroupParent === undefined ? undefined : joinCgroup(cgroupParent, marker, pid)
    return new Child({ started, pid, cgroup, options })
  } catch (error) {
    const reason = await explainSpawnError(error, { command, cwd })
    throw new AppError('agent_failed', `Cannot start "${command}": ${reason}`, { cause: error })
  }
}

interface Started extends ChildProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
}

function hasStreams(started: ChildProcess): started is Started {
  return started.stdin !== null && started.stdout !== null && started.stderr !== null
}

function extraPipe(started: Started, descriptor: 3 | 4): Duplex | undefined {
  const pipe = started.stdio[descriptor]
  return pipe instanceof Duplex ? pipe.on('error', ignore) : undefined // Ignored: `exited` reports the end.
}

interface ChildParts {
  readonly started: Started
  readonly pid: number
  readonly cgroup: Cgroup | undefined
  readonly options: ChildOptions
}

export class Child {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  /** The child's stderr. This class already reads it, for `stderrTail`. */
  readonly stderr: Readable
  /** Descriptor 3 of the child; undefined if the child has no descriptor 3. */
  readonly extraInput: Writable | undefined
  /** Descriptor 4 of the child; undefined if the child has no descriptor 4. */
  readonly extraOutput: Readable | undefined
  readonly exited: Promise<ChildExit>
  readonly #tail: Tail
  readonly #family: Family
  readonly #cgroup: Cgroup | undefined
  #hasExited = false
  /** The number of searches in a row, after the child's exit, that found no process. */
  #emptySearches = 0
  #noted: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined

  /** Called by `startChild` only. */
  constructor({ started, pid, cgroup, options }: ChildParts) {
    this.pid = pid
    this.stdin = started.stdin.on('error', ignore) // The child's end breaks the pipe, and `exited` reports it.
    this.stdout = started.stdout.on('error', ignore) // The child's end breaks the pipe, and `exited` reports it.
    this.extraInput = extraPipe(started, 3)
    this.extraOutput = extraPipe(started, 4)
    this.#tail = createTail(options.stderrLimitBytes ?? 64 * 1024)
    // The child's end breaks the pipe, and `exited` reports that end. So an error of the pipe is ignored.
    this.stderr = started.stderr.on('error', ignore).on('data', (chunk: Buffer) => this.#tail.push(chunk))
    this.#cgroup = cgroup
    this.#family = new Family({ rootPid: pid, isMarked: (marker) => marker === options.marker, proc: options.proc })
    this.exited = new Promise((resolve) => {
      started.once('exit', (code, signal) => {
        this.#hasExited = true
        this.#noted = this.#noteSurvivors()
        resolve({ code, signal })
      })
    })
  }

  stderrTail(): string {
    return this.#tail.text()
  }

  /** Returns the living processes of the child, the child included; undefined without /proc. */
  processes(): Promise<ProcessEntry[] | undefined> {
    return this.#find()
  }

  /** Sends a signal to the child's process group, if the child has not ended. */
  signalGroup(signal: NodeJS.Signals): void {
    if (!this.#hasExited) this.#killGroup(signal)
  }

  /**
   * Kills the child's processes except the `spared` processes. Returns the processes that are left after `limitMs`.
   * Without /proc, kills nothing and returns an empty list.
   */
  killAllBut(spared: readonly ProcessEntry[], { limitMs }: { limitMs: number }): Promise<ProcessEntry[]> {
    return this.#family.kill({ limitMs, spared })
  }

  /**
   * Ends the child and all its processes that can be found. Resolves when none of them is left.
   * @throws AppError `agent_failed` when a process cannot be killed.
   */
  stop(options: StopOptions = {}): Promise<void> {
    this.#stopping ??= this.#stop(options)
    return this.#stopping
  }

  async #stop({ graceMs = 4000, signal, killLimitMs = 5000 }: StopOptions): Promise<void> {
    await this.#find()
    this.stdin.end()
    if (!this.#isGone && !await this.#endsWithin(stdinGraceMs, signal)) {
      await this.#signalLivingGroup('SIGTERM')
      await this.#endsWithin(graceMs, signal)
    }
    if (!this.#isGone) await this.#signalLivingGroup('SIGKILL')
    const exit = await within(this.exited, killLimitMs)
    await this.#noted
    const [left, ended] = await Promise.all([
      this.#isGone ? [] : this.#family.kill({ limitMs: killLimitMs }),
      this.#cgroup?.end({ limitMs: killLimitMs }) ?? true,
    ])
    for (const stream of [this.stdin, this.stdout, this.stderr, this.extraInput, this.extraOutput]) stream?.destroy()
    if (left.length > 0 || !ended || exit === 'late') {
      const what = `all processes of the child with process id ${this.pid}`
      throw new AppError('agent_failed', `Cannot end ${what} within ${killLimitMs} ms`)
    }
  }

  /** Returns true when no process of the child is found any more; false after `ms` or when the signal aborts. */
  async #endsWithin(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    const end = performance.now() + ms
    for (let pauseMs = 10; performance.now() < end && !signal?.aborted; pauseMs = Math.min(pauseMs * 2, 160)) {
      if (this.#hasExited && !(await this.#find())?.length) return true
      await sleep(pauseMs, signal).catch(ignore) // The loop's condition checks the signal.
    }
    return false
  }

  /** Signals the process group only while one of its processes lives, because the id of a dead group may be reused. */
  async #signalLivingGroup(signal: NodeJS.Signals): Promise<void> {
    const members = await this.#find()
    const isAlive = members === undefined ? !this.#hasExited : members.some(({ group }) => group === this.pid)
    if (isAlive) this.#killGroup(signal)
  }

  async #find(): Promise<ProcessEntry[] | undefined> {
    await this.#noted
    const isAfterExit = this.#hasExited
    const members = await this.#family.find()
    if (isAfterExit) this.#countSearch(members)
    return members
  }

  #countSearch(members: readonly ProcessEntry[] | undefined): void {
    this.#emptySearches = members?.length === 0 ? this.#emptySearches + 1 : 0
  }

  /** True when two searches in a row found no process. A single search can miss a process that starts meanwhile. */
  get #isGone(): boolean {
    return this.#emptySearches >= 2
  }

  /** Remembers processes that outlive the child, for later searches. Without /proc, kills the process group. */
  async #noteSurvivors(): Promise<void> {
    const survivors = await this.#family.find({ rootJustExited: true })
    this.#countSearch(survivors)
    if (survivors === undefined) this.#killGroup('SIGKILL')
  }

  #killGroup(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal)
    } catch {
      // The group has no process any more, or none that this server may signal.
    }
  }
}

async function failureOf(started: Started): Promise<unknown> {
  const [error] = await once(started, 'error')
  return error
}

function ignore(): void {}
