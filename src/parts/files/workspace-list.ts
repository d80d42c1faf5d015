/**
 * The list of workspaces that a client shows to its user: `workspaces.json` in the data folder. An entry gives no right
 * to use a folder.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { parse } from '../../schema/check.ts'
import { WorkspaceList } from './generated.ts'
import { createStoredFile, type StoredFile } from '../../settings/stored-file.ts'

/** The most workspaces in the list, and the most parent folders of workspaces. */
const entryLimit = 1000

type Change = (list: WorkspaceList) => WorkspaceList

export interface WorkspaceListFile extends Pick<StoredFile<WorkspaceList>, 'read'> {
  /**
   * Stores and returns the changed list. @throws AppError `settings_unreadable`, `invalid_input` for too many entries,
   * `storage_full`, `storage_failed`; the errors of `change`
   */
  change(change: Change): Promise<WorkspaceList>
}

export function openWorkspaceList(dataDir: string): WorkspaceListFile {
  const file = createStoredFile<WorkspaceList>({
    path: join(dataDir, 'workspaces.json'),
    version: 1,
    initial: () => ({ workspaces: [], workspaceParents: [] }),
    encode: ({ workspaces, workspaceParents }) => ({ workspaces, workspaceParents }),
    decode(content) {
      const parsed = parse(WorkspaceList, content)
      if (!parsed.ok) throw new TypeError('Expected a list of workspaces')
      return parsed.value
    },
  })
  return { read: file.read, change: (change) => file.update((list) => withinLimit(change(list))) }
}

function withinLimit(list: WorkspaceList): WorkspaceList {
  if (list.workspaces.length <= entryLimit && list.workspaceParents.length <= entryLimit) return list
  throw new AppError('invalid_input', `Could not add to the list of workspaces: expected at most ${entryLimit}`)
}
