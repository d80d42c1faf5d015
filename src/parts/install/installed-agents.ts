/**
 * Returns the command of an installed agent, as long as the agent's files are unchanged.
 *
 * Before each start of an agent, the quick check (differences.ts) compares its executables. Once after the start of the
 * server, the background check compares the digests of all files. An agent that differs from its record is not started
 * until it is installed again or `verify` finds no difference.
 */
import { AppError, errorOf } from '../../base/errors.ts'
import type { Log, LogFields } from '../../base/log.ts'
import { existsSync, stat } from '../../base/read-files.ts'
import type { Clock } from '../../base/stamp.ts'
import { compareFiles, findDifference } from './differences.ts'
import { changeAgents, removeUnused } from './folder.ts'
import {
  commandOf, listInstalled, readInstallation, recordPath, type Difference, type FileStamp, type Installation,
} from './record.ts'

export interface InstalledAgentsOptions {
  /** The folder of installed agents (`folder.ts`). */
  readonly agentsDir: string
  readonly log: Log
  readonly clock: Clock
}

export class InstalledAgents {
  readonly #options: InstalledAgentsOptions
  /**
   * The records by agent name, each with modification time and inode of the record's file. Records are large, so a
   * record is read again only after its file has changed.
   */
  readonly #known = new Map<string, FileStamp & { readonly installation: Installation }>()
  /** The first difference that the background check found in an installation, by the key that `stateOf` returns. */
  readonly #doubts = new Map<string, Difference>()
  readonly #closed = new AbortController()
  #checking: Promise<void> | undefined

  constructor(options: InstalledAgentsOptions) {
    this.#options = options
  }

  /**
   * Returns the program and arguments that start an agent; undefined when the agent is not installed.
   * @throws AppError `agent_failed` when its files differ from the record, `storage_failed` for a damaged record,
   * `not_found` for a name that no agent can have
   */
  async commandOf(name: string): Promise<readonly string[] | undefined> {
    const { agentsDir } = this.#options
    const installation = await this.#recall(name)
    if (installation === undefined) return undefined
    const difference = this.#doubts.get(stateOf(installation)) ?? await findDifference(agentsDir, installation)
    if (difference === undefined) return commandOf(agentsDir, installation)
    throw new AppError('agent_failed', refusalOf(name, difference))
  }

  /** Starts the background check, which also removes files that no record names. Call it before any agent starts. */
  check(): void {
    this.#checking ??= this.#check()
  }

  /** Resolves when the background check has ended. */
  async checked(): Promise<void> {
    await this.#checking
  }

  /** Aborts the background check and waits until it has ended. Idempotent. */
  async close(): Promise<void> {
    this.#closed.abort()
    await this.#checking
  }

  async #recall(name: string): Promise<Installation | undefined> {
    const { agentsDir } = this.#options
    const record = await stat(recordPath(agentsDir, name)).catch(() => undefined) // `readInstallation` reports errors.
    const known = this.#known.get(name)
    if (known !== undefined && known.inode === record?.ino && known.mtimeMs === record.mtimeMs) {
      return known.installation
    }
    const found = await readInstallation(agentsDir, name)
    if (found === undefined || record === undefined) return found
    const installation = { ...found, files: found.files.filter(({ stamp }) => stamp !== undefined) }
    this.#known.set(name, { mtimeMs: record.mtimeMs, inode: record.ino, installation })
    return installation
  }

  async #check(): Promise<void> {
    const { agentsDir } = this.#options
    if (!existsSync(agentsDir)) return
    await this.#attempt('The files of removed agents could not be removed', {}, () => this.#removeWaste())
    const names = await listInstalled(agentsDir).catch(() => []) // In an unreadable folder nothing is checked.
    for (const name of names) {
      if (this.#closed.signal.aborted) return
      await this.#attempt('An installed agent could not be checked', { agent: name }, () => this.#checkOne(name))
    }
  }

  async #attempt(failure: string, fields: LogFields, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!this.#closed.signal.aborted) this.#options.log.error(failure, { ...fields, error: errorOf(error) })
    }
  }

  /** Removes the files that no record names. Does nothing while another change of the folder runs (`changeAgents`). */
  async #removeWaste(): Promise<void> {
    const { agentsDir, clock } = this.#options
    await changeAgents(agentsDir, clock, () => removeUnused(agentsDir)).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== 'owned_by_another') throw error
    })
  }

  async #checkOne(name: string): Promise<void> {
    const { agentsDir, log } = this.#options
    const installation = await readInstallation(agentsDir, name)
    if (installation === undefined) return
    const { version } = installation
    // One file is read at a time, to leave disk and CPU to the requests of clients.
    const { differences } = await compareFiles(agentsDir, installation, { signal: this.#closed.signal, parallel: 1 })
    const [first] = differences
    if (first === undefined) return log.info('The files of an installed agent are unchanged', { agent: name, version })
    this.#doubts.set(stateOf(installation), first)
    log.error('The files of an installed agent have changed, so it is not started', {
      agent: name,
      version,
      differences: differences.length,
      ...first,
    })
  }
}

/** Returns the key of an installation in `#doubts`. A new installation or a successful `verify` gives another key. */
function stateOf({ folder, verifiedAt }: Installation): string {
  return `${folder} ${verifiedAt}`
}

function refusalOf(name: string, { path, problem }: Difference): string {
  const what = { changed: 'was changed after it was installed', missing: 'is missing', extra: 'was not installed' }[
    problem
  ]
  return `Cannot start the installed agent "${name}": its file "${path}" ${what}; see "agent-server agents verify ` +
    `${name}"`
}
