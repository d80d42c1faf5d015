/**
 * Opens files anywhere on this machine, for clients with the right `files`.
 *
 * A path is checked in the same way as the paths of the built-in agent's tools (paths.ts), from the root of the file
 * system. The server's own folders and the folders of the kernel are refused: `/proc` shows the server's environment
 * with its keys, and `/sys` can change the machine.
 */
import { isAbsolute } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { createWorkspace, type ContainedPath, type PlaceOptions } from './paths.ts'

const kernelDirs: readonly string[] = ['/proc', '/sys']

export interface Machine {
  /**
   * Calls `use` with the `ContainedPath` of an absolute path, as `Workspace.at` does.
   * @throws AppError `forbidden` without the permission and for a refused folder, `bad_request` for a path that cannot
   * be used for another reason, `not_found`, `storage_full`
   */
  at<T>(path: string, use: (place: ContainedPath) => Promise<T>, options?: PlaceOptions): Promise<T>
}

/** Opens the files of the whole machine for routes. @param privateDirs the server's own folders, which stay closed */
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

/** Turns `invalid_input` into `forbidden` or `bad_request`, because the path is a parameter and no body member. */
function asRequestError(thrown: unknown): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== 'invalid_input' || thrown.issues.length > 0) return thrown
  const code = forbiddenCodes.has(systemCodeOf(thrown.cause)) ? 'forbidden' : 'bad_request'
  return new AppError(code, thrown.message, { cause: thrown.cause })
}
