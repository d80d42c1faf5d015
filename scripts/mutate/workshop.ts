/**
 * The folder outside the checkout in which mutations are made: copies of the tree, and files of the tests.
 *
 * `close` removes it, with every process that a test has left: the processes whose TMPDIR or HOME lies in it. It is
 * synchronous, so that it can be the last act after a signal. Nothing of the checkout is written.
 */
import {
  chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { killCommands } from './command.ts'

/** The folders that are made from the rest, or are no part of it. */
const leftOut = ['dist', 'node_modules', '.git', 'coverage']

export class Workshop {
  readonly folder = mkdtempSync(join(tmpdir(), 'mutate-'))
  readonly #root: string
  #runs = 0
  #isClosed = false

  /** @param root of the checkout */
  constructor(root: string) {
    this.#root = root
    // Some tests act as another user, who must get into the folders of the tests.
    chmodSync(this.folder, 0o755)
  }

  /** A copy of the source, not built. Names that nobody uses are no fault there: an edit may leave some behind. */
  copySource(name: string): string {
    const folder = join(this.folder, name)
    cpSync(this.#root, folder, {
      recursive: true, filter: (path) => path === this.#root || !leftOut.includes(basename(path)),
    })
    symlinkSync(join(this.#root, 'node_modules'), join(folder, 'node_modules'))
    const settings = join(folder, 'tsconfig.json')
    writeFileSync(
      settings, readFileSync(settings, 'utf8').replaceAll(/("noUnused(?:Locals|Parameters)": )true/g, '$1false'),
    )
    return folder
  }

  /** Copies a tree into this folder, with the files that were built in it. */
  copyTree(source: string, name: string): string {
    const folder = join(this.folder, name)
    cpSync(source, folder, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    return folder
  }

  /** Runs `work` with a folder for temporary files; nothing that lies or runs there is left. */
  async withTemporary<T>(work: (folder: string) => Promise<T>): Promise<T> {
    const folder = join(this.folder, `t${this.#runs++}`)
    mkdirSync(folder)
    try {
      return await work(folder)
    } finally {
      removeFolder(folder)
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    killCommands()
    removeFolder(this.folder)
  }
}

/** Removes a folder after its processes. A browser that was just killed may still write into it for a moment. */
function removeFolder(folder: string): void {
  for (let round = 0; ; round++) {
    killAllOf(folder)
    try {
      return rmSync(folder, { recursive: true, force: true })
    } catch (thrown) {
      if (round === 50) throw thrown
      pause(100)
    }
  }
}

/** Kills until no process is left, because a process can start another one after the list was read. */
function killAllOf(folder: string): void {
  for (let round = 0, pids = processesOf(folder); round < 100 && pids.length > 0; round++) {
    for (const pid of pids) kill(pid)
    pause(20)
    pids = processesOf(folder)
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Processes whose TMPDIR or HOME is this folder or below it, as HOME of a browser is; none without /proc. */
function processesOf(folder: string): number[] {
  const pids = list('/proc').filter((name) => /^\d+$/.test(name)).map(Number)
  return pids.filter((pid) => {
    const places = environmentOf(pid).map((entry) => /^(?:TMPDIR|HOME)=(.*)$/.exec(entry)?.[1])
    return pid !== process.pid && places.some((place) => place === folder || place?.startsWith(`${folder}/`))
  })
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
  } catch {
    return []
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone meanwhile.
  }
}
