/**
 * Lends credential files to an agent: writes them before its program starts, and removes them after the program has
 * ended (contract/settings.md, section 5; decisions 12).
 *
 * A file has the text of a secret that is named in `acp_file_secrets`. Only the server's user can read the file.
 *
 * A program may renew its login in the file. Then the new text is stored in the secret, unless the secret was changed
 * meanwhile.
 */
import { basename, dirname, join } from 'node:path'
import { AppError, errorOf } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import {
  makeFolder, makeTemporaryFolder, privateFolder, removeFile, removeTree, symlink, writeFileAtomically,
} from '../../../base/own-files.ts'
import { lstat, readdir, readFile, stat } from '../../../base/read-files.ts'
import type { SecretChange } from '../../../conversation/agent/host.ts'
import type { AcpFileSecret } from '../../../schema/generated/settings.ts'
import { jsonIn } from '../../../settings/masked-parts.ts'

const fileLimitBytes = 256 * 1024
const folderPrefix = 'lent-'
const copyName = '.lent'

/** Stores the new text of a credential file in its secret. Returns false if the secret was changed meanwhile. */
export type ReplaceSecret = (change: SecretChange) => Promise<boolean>

export interface LendOptions {
  readonly fileSecrets: readonly AcpFileSecret[]
  readonly secrets: ReadonlyMap<string, string>
  /** Makes the private folder for the credential files, in which `recoverFiles` looks for changes after a crash. */
  readonly makeSecretDir: () => Promise<string>
  /** The conversation's folder for files that the program needs again after a restart. */
  readonly agentDir: string
  readonly replaceSecret: ReplaceSecret
  readonly log: Log
  /** The time between two checks of the files for changes by the program. Default 1 s. */
  readonly watchIntervalMs?: number | undefined
}

interface LentFile {
  readonly name: string
  /** The path at which the program finds the file. */
  readonly path: string
  readonly copyPath: string
  lent: string
}

/**
 * Writes a credential file for each entry of `fileSecrets` whose secret is set and not blank. Removes the files after
 * an error.
 * @throws AppError or system errors
 */
export async function lendFiles(options: LendOptions): Promise<LentFiles> {
  const lent = new LentFiles(options)
  try {
    for (const fileSecret of options.fileSecrets) {
      const value = options.secrets.get(fileSecret.secret_name)
      if (value !== undefined && value.trim() !== '') await lent.add(fileSecret, value)
    }
    return lent
  } catch (error) {
    await lent.close()
    throw error
  }
}

export class LentFiles {
  /** Environment variables that tell the program where the files are. */
  readonly variables: Record<string, string> = {}
  readonly #options: LendOptions
  readonly #files: LentFile[] = []
  #timer: NodeJS.Timeout | undefined
  #isLooking = false
  #folder: string | undefined
  #reading: Promise<void> = Promise.resolve()
  #closing: Promise<void> | undefined

  constructor(options: LendOptions) {
    this.#options = options
  }

  async add(fileSecret: AcpFileSecret, value: string): Promise<void> {
    const { secret_name: name, filename, subdir, env_var, env_points_to } = fileSecret
    const { makeSecretDir, agentDir, watchIntervalMs = 1000 } = this.#options
    this.#folder ??= await makeTemporaryFolder(join(await makeSecretDir(), folderPrefix))
    const folder = join(this.#folder, name)
    const stored = join(folder, filename)
    const seen = env_points_to === 'dir' ? join(agentDir, subdir) : folder
    const file = { name, path: join(seen, filename), copyPath: join(folder, copyName), lent: value }
    await makeFolder(folder, privateFolder)
    await writeFileAtomically(file.copyPath, value)
    await writeFileAtomically(stored, value)
    if (file.path !== stored) {
      await makeFolder(seen, privateFolder)
      await removeLent(file.path)
      await symlink(stored, file.path)
    }
    this.variables[env_var] = env_points_to === 'dir' ? seen : stored
    this.#files.push(file)
    // Not `fs.watchFile`: it would miss changes that the program makes before the first check of `watchFile`.
    this.#timer ??= setInterval(() => void this.#look(), watchIntervalMs).unref()
  }

  /** If the program changed files, stores their new texts in the secrets. Never rejects. */
  readBack(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readAll())
    return this.#reading
  }

  /** Stores the last changes and removes the files. Call it after the program has ended. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Checks the files, unless an earlier call still does so: on a slow disk the timer must not queue checks. */
  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    await this.readBack()
    this.#isLooking = false
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer)
    await this.readBack()
    for (const { path } of this.#files) await removeLent(path).catch((thrown: unknown) => this.#reportLeft(thrown))
    if (this.#folder !== undefined) await removeTree(this.#folder)
  }

  #reportLeft(thrown: unknown): void {
    this.#options.log.warn('The file of a lent credential could not be removed', { error: errorOf(thrown) })
  }

  async #readAll(): Promise<void> {
    for (const file of this.#files) {
      try {
        await this.#readOne(file)
      } catch (error) {
        const about = { name: file.name, error: errorOf(error) }
        this.#options.log.error('A changed credential file could not be stored', about)
      }
    }
  }

  async #readOne(file: LentFile): Promise<void> {
    const { replaceSecret, log } = this.#options
    const current = await readChanged(file.path, file.lent)
    if (current === undefined) return
    const isStored = await replaceSecret({ name: file.name, lent: file.lent, current })
    file.lent = current
    await writeFileAtomically(file.copyPath, current)
    if (!isStored) log.warn(conflict, { name: file.name })
  }
}

const conflict = 'An agent has renewed a credential file whose secret was changed meanwhile: the secret stays as it is'

/**
 * After a server was killed, stores each changed credential file in its secret, unless the secret was changed
 * meanwhile. Call it after the programs of that server have ended. Returns the names of the folders in `secretDir` with
 * a file for which an error prevented this. The caller must keep these folders.
 */
export async function recoverFiles(
  secretDir: string,
  replaceSecret: ReplaceSecret,
  log: Log,
): Promise<ReadonlySet<string>> {
  const unstored = new Set<string>()
  for (const folder of await namesIn(secretDir)) {
    if (!folder.startsWith(folderPrefix)) continue
    for (const name of await namesIn(join(secretDir, folder))) {
      const change = await findChange(join(secretDir, folder, name), name)
      if (change === undefined) continue
      try {
        if (!(await replaceSecret(change))) log.warn(conflict, { name })
      } catch (error) {
        unstored.add(folder)
        const problem = 'A credential file of a killed server could not be stored and is kept'
        log.error(problem, { name, error: errorOf(error) })
      }
    }
  }
  return unstored
}

/** Returns the change of the credential file in `place`; undefined if the file has no usable change. */
async function findChange(place: string, name: string): Promise<SecretChange | undefined> {
  const file = (await namesIn(place)).find((entry) => !entry.startsWith('.'))
  const lent = await readRegular(join(place, copyName))
  if (file === undefined || lent === undefined) return undefined
  const current = await readChanged(join(place, file), lent)
  return current === undefined ? undefined : { name, lent, current }
}

async function readChanged(path: string, lent: string): Promise<string | undefined> {
  const text = await readRegular(path)
  if (text === undefined || text === lent || text.trim() === '') return undefined
  const isCutShort = jsonIn(lent) !== undefined && jsonIn(text) === undefined
  return isCutShort ? undefined : text
}

/**
 * Removes a credential file, the link to it, or a file in the link's place.
 * @throws AppError `agent_failed` when the parent is a link or a file: the files behind such a link belong to the user
 */
async function removeLent(path: string): Promise<void> {
  const around = await lstat(dirname(path)).catch(() => undefined) // The folder may be missing.
  if (around?.isDirectory() === false) {
    const found = around.isSymbolicLink() ? 'a link' : 'a file'
    throw new AppError('agent_failed', `"${basename(dirname(path))}" is ${found}, expected a folder`)
  }
  await removeFile(path)
}

/** Returns the text of a regular file of at most `fileLimitBytes`; otherwise undefined. Follows links. */
async function readRegular(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path)
    return found.isFile() && found.size <= fileLimitBytes ? await readFile(path, 'utf8') : undefined
  } catch {
    return undefined // A missing or unreadable file has no text.
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []) // A missing or unreadable folder has no names.
}
