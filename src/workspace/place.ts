/**
 * Chooses, checks and creates the folder that a conversation works in.
 *
 * A client may name any folder, except the server's own data and folders inside or above it (decisions 20). Links are
 * followed before the check.
 */
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { AppError, systemCodeOf } from '../base/errors.ts'
import { makeFolder, storageError } from '../base/own-files.ts'
import { realpath } from '../base/read-files.ts'
import { initRepository } from './git.ts'

export interface PlaceOptions {
  /** The folder in which a conversation gets its workspace if its request names no folder. */
  readonly workspaceDir: string
  /** Folders in which no agent may work. Folders inside or above them are refused too. */
  readonly privateDirs: readonly string[]
}

/**
 * Creates the folder and its git repository if needed, and returns the folder's absolute path. Without `requested`, the
 * name of the folder is the conversation's id without hyphens.
 * @throws AppError `invalid_input` when the folder may not be a workspace or cannot be made, `storage_full`.
 */
export async function preparePlace(
  requested: string | undefined, conversationId: string, options: PlaceOptions,
): Promise<string> {
  const path = await locatePlace(requested ?? conversationId.replaceAll('-', ''), options)
  await makeWorkspace(path)
  await initRepository(path)
  return path
}

/**
 * Returns the absolute path of a folder that a conversation may work in. A relative path starts at `workspaceDir`.
 * The folder need not exist.
 * @throws AppError `invalid_input` when the folder may not be a workspace
 */
export async function locatePlace(
  requested: string, options: PlaceOptions,
): Promise<string> {
  const path = resolve(options.workspaceDir, requested)
  if (path.includes('\0')) throw refused(path, 'it holds a NUL character')
  await assertNotPrivate(path, options.privateDirs)
  return path
}

async function assertNotPrivate(path: string, privateDirs: readonly string[]): Promise<void> {
  const real = await realPathOfFuture(path)
  for (const dir of privateDirs) {
    const secret = await realPathOfFuture(dir)
    const overlaps = contains(secret, real) || contains(real, secret)
    if (overlaps) throw refused(path, "it holds the server's own data, or is inside it")
  }
}

async function makeWorkspace(path: string): Promise<void> {
  try {
    await makeFolder(path)
  } catch (thrown) {
    const error = storageError(`Cannot make the workspace "${path}"`, thrown)
    if (error === thrown || error.code === 'storage_full') throw error
    const code = systemCodeOf(thrown) ?? ''
    throw refused(path, reasons[code] ?? `it cannot be made (${code})`)
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it is not a folder',
  ENOENT: 'it cannot be made there',
  ENOTDIR: 'a part of the path is not a folder',
  EACCES: 'the server may not write there',
  EPERM: 'the server may not write there',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'the path goes through too many links',
}

/** Resolves the symbolic links in the part of a path that exists. If an error prevents this, the links in it stay. */
async function realPathOfFuture(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (thrown) {
    const parent = dirname(path) // If the last name is missing, it is added to the real path of `parent`.
    if (systemCodeOf(thrown) !== 'ENOENT' || parent === path) return path
    return join(await realPathOfFuture(parent), relative(parent, path))
  }
}

/** True when the inner path is the outer path or a path inside it. */
export function contains(outer: string, inner: string): boolean {
  const path = relative(outer, inner)
  return path === '' || (path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path))
}

function refused(path: string, why: string): AppError {
  return new AppError('invalid_input', `Cannot use "${path.slice(0, 512)}" as a workspace: ${why}`)
}
