/**
 * The folder of installed agents in the data folder: its files, and the lock for changing it.
 *
 *     agents/
 *       <name>.json                 the record of an installed agent (record.ts)
 *       <name>@<version>-<id>/      the agent's files, as npm left them
 *       new-<id>/                   an installation in progress, or the files of a killed installation
 *       lock/                       the lock that one process at a time takes to change the folder
 *
 * An agent is installed while its record exists. Running agents may still use files that no record names.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { failsAsStorage, makeFolder, ownFolder, removeTree } from '../../base/own-files.ts'
import { readdir } from '../../base/read-files.ts'
import type { Clock } from '../../base/stamp.ts'
import { lockFolder } from '../../process/lock.ts'
import { listInstalled, readInstallation } from './record.ts'

/** The prefix of the folder of an installation in progress. */
export const newPrefix = 'new-'

/** The names of an installation's folder: `new-<id>` at first, `<name>@<version>-<id>` when it is complete. */
const newShape = /^new-[0-9a-f-]{36}$/
const installationShape = /^[^@]+@.+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function agentsFolderIn(dataDir: string): string {
  return join(dataDir, 'agents')
}

/**
 * Locks the folder of installed agents, runs `body`, and releases the lock. Creates a missing folder.
 * @throws AppError `storage_full`, `storage_failed`; the errors of `lockFolder` and of `body`
 */
export async function changeAgents<T>(folder: string, clock: Clock, body: () => Promise<T>): Promise<T> {
  const lockPath = join(folder, 'lock')
  await failsAsStorage('Cannot make the folder of installed agents', () => makeFolder(lockPath, ownFolder))
  const lock = await lockFolder(lockPath, { clock, onLost: () => undefined }).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError) || thrown.code !== 'owned_by_another') throw thrown
    throw new AppError(
      'owned_by_another',
      'Cannot change the installed agents: another command or a starting server is changing them, so try again later',
    )
  })
  try {
    return await body()
  } finally {
    await lock.release()
  }
}

/** Removes the folders of interrupted installations. Call it in `changeAgents` only. */
export async function removeHalfMade(folder: string): Promise<void> {
  for (const name of await foldersIn(folder)) {
    if (newShape.test(name)) await removeTree(join(folder, name))
  }
}

/**
 * Removes the folders of installations that no record names. Call it in `changeAgents` only, while no agent runs from
 * `folder`.
 */
export async function removeUnused(folder: string): Promise<void> {
  const installations = await Promise.all((await listInstalled(folder)).map((name) => readInstallation(folder, name)))
  const used = new Set(installations.map((installation) => installation?.folder))
  for (const name of await foldersIn(folder)) {
    const isOurs = newShape.test(name) || installationShape.test(name)
    if (isOurs && !used.has(name)) await removeTree(join(folder, name))
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
