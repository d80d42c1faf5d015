/**
 * What the server does with git by itself: a new workspace becomes a repository, so that changes can be shown.
 *
 * git is not needed for anything else; where it is missing or fails, the workspace is simply no repository.
 */
import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { within } from '../base/wait.ts'
import { startChild } from '../process/child.ts'
import { buildEnvironment, type Environment } from '../process/environment.ts'

const gitTimeoutMs = 10_000

/** Runs `git init` in a folder that is not inside a repository. Never throws. */
export async function initRepository(
  path: string,
  options: { readonly environment: Environment; readonly instance: string },
): Promise<void> {
  if (await isInRepository(path)) return
  try {
    const git = await startChild({
      command: 'git',
      args: ['init', '--quiet'],
      cwd: path,
      env: buildEnvironment({ server: options.environment }),
      marker: `${options.instance}/git-${randomUUID()}`,
    })
    git.stdout.resume()
    await within(git.exited, gitTimeoutMs)
    await git.stop({ graceMs: 0 })
  } catch {
    // No git, no repository: the conversation works without.
  }
}

async function isInRepository(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await exists(join(folder, '.git'))) return true
    if (dirname(folder) === folder) return false
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
