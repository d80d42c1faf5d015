/**
 * Opens files anywhere on this machine, for clients with the right `files`. The paths are checked as in a workspace
 * (paths.ts).
 *
 * The server's own folders and the folders of the kernel are refused: `/proc` shows the server's environment, which may
 * have keys, and `/sys` can change the machine.
 */
import { isAbsolute } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { createWorkspace, type ContainedPath, type PlaceOptions } from './paths.ts'

const kernelDirs: readonly string[] = ['/proc', '/sys']

export interface Machine {
  /**
   * Calls `use` with the `ContainedPath` of an absolute path, as `Workspace.at` does.
   * @throws AppError `forbidden` for a refused folder or a missing permission, `bad_request` for another unusable path,
   * `not_found`, `storage_full`
   */
  at<T>(path: string, use: (place: ContainedPath) => Promise<T>, options?: PlaceOptions): Promise<T>
}

/** Returns access to the files of the whole machine. @param privateDirs the server's own folders, which are refused */
export function openMachine(privateDirs: readonly string[]): Machine {
  const root = createWorkspace({ workingDir: '/', privateDirs: [...privateDirs, ...kernelDirs] })
  return {
    async at(path, use, options) {
      if (!isAbsolute(path)) throw new AppError('bad_request', 'Path must be absolute')
      try {
        return await root.at(path, use, options)
      } catch (thrown) {
        throw asRequestError(thrown)
      }
    },
  }
}

const forbiddenCodes: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS', 'EPRIVATE'])

/** Turns an `invalid_input` without `issues` into `forbidden` or `bad_request`. Returns any other error unchanged. */
function asRequestError(thrown: unknown): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== 'invalid_input' || thrown.issues.length > 0) return thrown
  const code = forbiddenCodes.has(systemCodeOf(thrown.cause)) ? 'forbidden' : 'bad_request'
  return new AppError(code, thrown.message, { cause: thrown.cause })
}
