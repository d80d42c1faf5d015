/**
 * Decides whether a folder may be the data folder, before anything in it is changed.
 *
 * A data folder has a `format.json`, which `claimDataFolder` creates in a missing or empty folder. Any other folder is
 * refused, because a server replaces and removes files in its data folder. A folder of another user is refused too:
 * root could write there, but the owner's server could not read the files of root.
 */
import { hash, randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { AppError, systemCodeOf } from '../base/errors.ts'
import { formatMode, othersMay, type OthersMay } from '../base/file-mode.ts'
import { isObject } from '../base/json.ts'
import { createJsonFile, readJsonFile } from '../base/json-file.ts'
import { isTemporaryFile, makeFolder, ownFolder, storageError } from '../base/own-files.ts'
import { readdir, stat } from '../base/read-files.ts'

/** The format of a data folder that this version reads and writes. A new number needs a migration. */
export const formatNumber = 1

const formatFile = 'format.json'

/**
 * Makes a missing or empty folder a data folder, or accepts a data folder. Returns other users' rights on it.
 * @throws AppError `format_unsupported` for another format or other content; `storage_failed` for a folder that belongs
 * to another user, that other users may write or that cannot be used; `storage_full`
 */
export async function claimDataFolder(path: string): Promise<{ readonly othersMay: OthersMay }> {
  const folder = resolve(path)
  try {
    await makeFolder(folder, ownFolder)
    const isOne = await isDataFolder(folder)
    await assertOwnFolder(folder)
    const others = await assertNotOpen(folder)
    if (!isOne) await createFormat(folder)
    await readInstance(folder)
    return { othersMay: others }
  } catch (thrown) {
    throw storageError(`Cannot use "${folder}" as the data folder`, thrown)
  }
}

/**
 * True for a data folder; false for a missing or empty folder. Changes nothing.
 * @throws AppError `format_unsupported` for another format or other content, `storage_failed`
 */
export async function isDataFolder(path: string): Promise<boolean> {
  const folder = resolve(path)
  try {
    if ((await readInstance(folder)) !== undefined) return true
    const foreign = (await namesIn(folder)).find((name) => !isOfEmptyFolder(name))
    if (foreign === undefined) return false
    // Another server may have created `format.json` between the two reads.
    if ((await readInstance(folder)) !== undefined) return true
    const held = JSON.stringify(foreign.slice(0, 100))
    throw refused(folder, `it is no data folder, it has no "${formatFile}" but holds ${held}`)
  } catch (thrown) {
    if (!(thrown instanceof AppError) || thrown.code === 'storage_failed') await assertOwnFolder(folder)
    throw storageError(`Cannot use "${folder}" as the data folder`, thrown)
  }
}

/** @throws AppError `not_found` for a missing or empty folder; the errors of `isDataFolder` */
export async function assertDataFolder(path: string): Promise<void> {
  if (!await isDataFolder(path)) throw noDataFolder(path)
}

/**
 * Checks that this process may change the data folder. @throws AppError `storage_failed` for a folder of another user;
 * the errors of `assertDataFolder`
 */
export async function assertOwnDataFolder(path: string): Promise<void> {
  const isOne = await isDataFolder(path)
  await assertOwnFolder(path)
  if (!isOne) throw noDataFolder(path)
}

/** @throws AppError `storage_failed` for a folder of another user. A missing folder is accepted. */
export async function assertOwnFolder(path: string): Promise<void> {
  const folder = resolve(path)
  const owner = await stat(folder).then(({ uid }) => uid, () => undefined) // An unknown owner is accepted.
  const problem = ownerProblem(owner, process.geteuid?.())
  if (problem !== undefined) throw new AppError('storage_failed', `Cannot use "${folder}": ${problem}`)
}

/** Returns why a process of `user` may not change a folder of `owner`; undefined if it may, or if either is unknown. */
export function ownerProblem(owner: number | undefined, user: number | undefined): string | undefined {
  if (owner === undefined || user === undefined || owner === user) return undefined
  const asOwner = owner === 0 ? '' : `run the command as the owner (sudo -u '#${owner}' ...), or `
  return `it belongs to the user ${owner}, and this is the user ${user}; ` +
    `${asOwner}change the owner of everything in it (chown -R)`
}

function noDataFolder(path: string): AppError {
  return new AppError('not_found', `There is no data folder at "${path}": the first start of the server makes it`)
}

async function createFormat(folder: string): Promise<void> {
  try {
    await createJsonFile(join(folder, formatFile), { format: formatNumber, instance: randomBytes(8).toString('hex') })
  } catch (thrown) {
    throw storageError(`Cannot use "${folder}" as the data folder`, thrown instanceof AppError ? thrown.cause : thrown)
  }
}

/** Returns a data folder's id, with a hash of its path: letters, digits and `-`. A copy elsewhere has another id. */
export async function instanceOf(path: string): Promise<string> {
  const made = await readInstance(path)
  if (made === undefined) throw refused(path, `its "${formatFile}" is gone`)
  return `${made}-${hash('sha256', resolve(path), 'hex').slice(0, 8)}`
}

/** Returns the id in `format.json`; undefined without the file. @throws AppError if the file is not of this format */
async function readInstance(folder: string): Promise<string | undefined> {
  const stored = await readJsonFile(join(folder, formatFile), { limitBytes: 4096 })
  if (stored === undefined) return undefined
  const { format, instance } = isObject(stored) ? stored : {}
  if (format === formatNumber && typeof instance === 'string' && /^[0-9a-f]{16}$/.test(instance)) return instance
  const isNewer = typeof format === 'number' && format > formatNumber
  const why = `its format is ${String(format)}, this version knows up to ${formatNumber}; use a newer version`
  throw refused(folder, isNewer ? why : `its "${formatFile}" does not say format ${formatNumber}`)
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (thrown) {
    if (systemCodeOf(thrown) === 'ENOENT') return []
    throw thrown
  }
}

/** True for a name that an empty folder may have: `lost+found`, or a temporary file of `format.json`. */
function isOfEmptyFolder(name: string): boolean {
  return name === 'lost+found' || isTemporaryFile(name, formatFile)
}

async function assertNotOpen(folder: string): Promise<OthersMay> {
  const { mode } = await stat(folder)
  const others = othersMay(mode)
  if (others !== 'write') return others
  const why = `other users may write it (mode ${formatMode(mode)}); expected chmod 700, or a folder of its own`
  throw new AppError('storage_failed', `Cannot use "${folder}" as the data folder: ${why}`)
}

function refused(folder: string, why: string): AppError {
  const expected = why.startsWith('it is no') ? '; expected an empty folder, or a folder that does not exist' : ''
  return new AppError('format_unsupported', `Cannot use "${folder}" as the data folder: ${why}${expected}`)
}
