/**
 * The record of an installed agent: its package, how to start it, and the size and digest of each file. Executables
 * also have stamps, which can be compared without reading the file.
 *
 * The record protects against accidents. It does not protect against a process that can write the record.
 */
import { basename, join } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { readJsonFile } from '../../base/json-file.ts'
import { storageError, writeFileAtomically } from '../../base/own-files.ts'
import { readdir } from '../../base/read-files.ts'

export interface Installation {
  readonly name: string
  readonly packageName: string
  readonly version: string
  /** The name of the folder with the agent's files. */
  readonly folder: string
  /** The path of the program in `folder`. */
  readonly entry: string
  /** True when Node runs the entry as a script; false when the entry is started as a program. */
  readonly runsOnNode: boolean
  /** The version of Node that ran the installation. */
  readonly nodeVersion: string
  readonly installedAt: string
  /** The time of the installation, or of the last `verify` that found all digests right. */
  readonly verifiedAt: string
  /** The first difference that the last `verify` found; absent if there was none. */
  readonly doubt?: Difference
  readonly files: readonly InstalledFile[]
}

export interface Difference {
  readonly path: string
  readonly problem: 'changed' | 'missing' | 'extra'
}

export interface InstalledFile {
  /** The path relative to the folder of the agent's files, with `/` as separator. */
  readonly path: string
  readonly size: number
  readonly sha256: string
  /** The stamp of an executable; absent for other files. */
  readonly stamp?: FileStamp
}

/**
 * Modification time and inode of a file. A changed file has another time or inode, unless a program sets the time back.
 */
export interface FileStamp {
  readonly mtimeMs: number
  readonly inode: number
}

/** The version of the record's format. */
const format = 1
const limitBytes = 64 * 1024 * 1024
/** The most JSON values of a record. */
const valueLimit = 4_000_000

const nameShape = /^[a-z0-9][a-z0-9._-]{0,63}$/
const folderShape = /^[^@/\\\0]*@[^/\\\0]*$/
const digestShape = /^[0-9a-f]{64}$/

/**
 * Reads the record of an agent. Returns undefined for an agent that is not installed.
 * @throws AppError `storage_failed` for a record that cannot be read or is invalid
 */
export async function readInstallation(folder: string, name: string): Promise<Installation | undefined> {
  if (!nameShape.test(name)) return undefined
  const value = await readJsonFile(recordPath(folder, name), { limitBytes, valueLimit })
  if (value === undefined) return undefined
  const { format: found, ...installation } = isObject(value) ? value : {}
  if (found === format && isInstallation(installation) && installation.name === name) return installation
  throw new AppError(
    'storage_failed', `Cannot use the record of the installed agent "${name}": expected a record of this server`,
  )
}

/** Returns the names of all agents that have a record, sorted. @throws AppError `storage_failed` */
export async function listInstalled(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch((thrown: unknown) => {
    if (systemCodeOf(thrown) === 'ENOENT') return []
    throw storageError('Cannot list the installed agents', thrown)
  })
  return files.flatMap((file) => /^([^.].*)\.json$/.exec(file)?.[1] ?? []).sort()
}

/** Writes the record atomically. @throws AppError `storage_full` or `storage_failed` */
export async function writeInstallation(folder: string, installation: Installation): Promise<void> {
  const { files, ...about } = installation
  const head = JSON.stringify({ format, ...about }).slice(0, -1)
  const lines = files.map((file) => JSON.stringify(file)).join(',\n')
  await writeFileAtomically(recordPath(folder, installation.name), `${head},"files":[\n${lines}\n]}\n`)
}

/**
 * Returns the path of the record of an agent. @throws AppError `not_found` for a name that has a `/` or begins with "."
 */
export function recordPath(folder: string, name: string): string {
  if (basename(name) !== name || name.startsWith('.')) {
    throw new AppError('not_found', `No agent can have the name "${name}"`)
  }
  return join(folder, `${name}.json`)
}

export function commandOf(folder: string, installation: Installation): readonly [string, ...string[]] {
  const entry = join(folder, installation.folder, installation.entry)
  return installation.runsOnNode ? [process.execPath, entry] : [entry]
}

export function sizeOf({ files }: Installation): number {
  return files.reduce((sum, { size }) => sum + size, 0)
}

function isInstallation(value: unknown): value is Installation {
  if (!isObject(value)) return false
  const { files, folder, entry, runsOnNode, doubt, ...texts } = value
  if (!textMembers.every((member) => typeof texts[member] === 'string') || typeof runsOnNode !== 'boolean') return false
  if (typeof folder !== 'string' || !folderShape.test(folder)) return false
  if (doubt !== undefined && !isDifference(doubt)) return false
  return Array.isArray(files) && files.every(isFile) && files.some(({ path }) => path === entry)
}

const textMembers = ['name', 'packageName', 'version', 'nodeVersion', 'installedAt', 'verifiedAt'] as const

function isDifference(value: unknown): value is Difference {
  if (!isObject(value) || typeof value['path'] !== 'string') return false
  return value['problem'] === 'changed' || value['problem'] === 'missing' || value['problem'] === 'extra'
}

function isFile(value: unknown): value is InstalledFile {
  if (!isObject(value)) return false
  const { path, size, sha256, stamp } = value
  if (typeof path !== 'string' || path.startsWith('/') || path.split('/').includes('..')) return false
  if (!Number.isSafeInteger(size) || typeof sha256 !== 'string' || !digestShape.test(sha256)) return false
  return (
    stamp === undefined ||
    (isObject(stamp) && typeof stamp['mtimeMs'] === 'number' && typeof stamp['inode'] === 'number')
  )
}
