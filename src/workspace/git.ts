/**
 * The server's own use of git: makes a new workspace a repository, so that changes can be shown.
 *
 * If git is missing or fails, the workspace is no repository.
 */
import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { isThere, realpath, stat } from '../base/read-files.ts'
import { within } from '../base/wait.ts'
import { startChild } from '../process/child.ts'
import { buildEnvironment, type Environment } from '../process/environment.ts'

const gitTimeoutMs = 10_000

/** Runs `git init` in a folder that is not inside a repository. Does nothing if git fails. Never throws. */
export async function initRepository(
  path: string,
  options: { readonly environment: Environment; readonly instance: string },
): Promise<void> {
  if (await isInRepository(path)) return
  try {
    const git = await startChild({
      command: 'git',
      // These settings make git run no hook and no command that the user's settings or an outer repository name.
      args: ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', 'init', '--quiet', '--template='],
      cwd: path,
      env: buildEnvironment({ server: options.environment }),
      marker: `${options.instance}/git-${randomUUID()}`,
    })
    git.stdout.resume()
    await within(git.exited, gitTimeoutMs)
    await git.stop({ graceMs: 0 })
  } catch {
    // Without git the folder is no repository, and the conversation works in it all the same.
  }
}

export interface Repository {
  readonly root: string
  /** The real path of the folder, inside the repository or equal to `root`. */
  readonly folder: string
}

/**
 * Returns the repository that contains a folder, by real paths. Returns undefined if there is no repository. Like git
 * itself, it ignores the repository of another user, who may have put it above the folder.
 */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  const real = await realpath(folder).catch(() => undefined) // A missing folder has no repository.
  if (real === undefined) return undefined
  const { uid } = await stat(real)
  for (let root = real; ; root = dirname(root)) {
    const found = await stat(join(root, '.git')).catch(() => undefined) // The next folder above is tried.
    if (found !== undefined) return found.uid === uid ? { root, folder: real } : undefined
    if (dirname(root) === root) return undefined
  }
}

async function isInRepository(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'))) return true
    if (dirname(folder) === folder) return false
  }
}
