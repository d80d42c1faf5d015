/**
 * The list of workspaces that a client shows to its user: `workspaces.json` in the data folder. The list gives no
 * rights and forbids nothing.
 *
 * Each path is in the list once. Changes are made one after the other.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { readJsonFile, writeJsonFile } from '../../base/json-file.ts'
import { parse } from '../../schema/check.ts'
import { WorkspaceList } from '../../schema/generated/files.ts'

/** The most entries of each kind. */
const entryLimit = 1000

type Change = (list: WorkspaceList) => WorkspaceList

export interface WorkspaceListFile {
  /** Returns the list; empty without a file. @throws AppError `settings_unreadable` */
  read(): Promise<WorkspaceList>
  /** Stores and returns the changed list. @throws AppError `settings_unreadable`, `invalid_input` */
  change(change: Change): Promise<WorkspaceList>
}

export function openWorkspaceList(dataDir: string): WorkspaceListFile {
  const path = join(dataDir, 'workspaces.json')
  let last: Promise<unknown> = Promise.resolve()
  return {
    read: () => read(path),
    change(change) {
      const changing = last.then(() => changeFile(path, change))
      last = changing.catch(() => undefined)
      return changing
    },
  }
}

async function read(path: string): Promise<WorkspaceList> {
  const stored = await readJsonFile(path).catch((cause: unknown) => Promise.reject(unreadable(cause)))
  if (stored === undefined) return { workspaces: [], workspaceParents: [] }
  const parsed = parse(WorkspaceList, stored)
  if (!parsed.ok) throw unreadable()
  return parsed.value
}

async function changeFile(path: string, change: Change): Promise<WorkspaceList> {
  const list = change(await read(path))
  if (list.workspaces.length > entryLimit || list.workspaceParents.length > entryLimit) {
    throw new AppError('invalid_input', `Could not add to the list of workspaces: expected at most ${entryLimit}`)
  }
  await writeJsonFile(path, { version: 1, ...list })
  return list
}

function unreadable(cause?: unknown): AppError {
  return new AppError('settings_unreadable', 'The stored list of workspaces cannot be read', { cause })
}
