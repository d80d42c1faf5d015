/**
 * The tool `list_directory`: lists at most 500 entries of a directory (contract/payloads.md, sections 2 and 3).
 *
 * A recursive action lists two levels.
 */
import type { FileEntry } from '../../../schema/generated/observations.ts'
import { walkTree, type Entry } from '../../workspace-files/directory.ts'
import { defineTool } from './definition.ts'
import type { FileScope } from './file-scope.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'

const entryLimit = 500

export function createListDirectoryTool(scope: FileScope): Tool {
  return defineTool({
    kind: 'ListDirectoryTool',
    action: 'ListDirectoryAction',
    observation: 'ListDirectoryObservation',
    description: `List a directory: names, sizes and times of its entries, hidden ones too, at most ${entryLimit}.`,
    parameters: {
      dir_path: 'Path of the directory: absolute, or relative to the workspace. Default: the workspace.',
      recursive: 'Show the entries of its directories too, but no deeper. Default: false.',
    },
    hints: { readOnly: true, destructive: false, idempotent: true },
    run: (action, { signal }) => scope.workspace.at(action.dir_path, async (place) => {
      const entries: FileEntry[] = []
      let total = 0
      await walkTree(place, {
        signal,
        limitEntries: scope.limits.walkEntries,
        visit: (entry) => {
          if (total++ < entryLimit) entries.push(entryOf(entry))
          return action.recursive && entry.parentPath === '.'
        },
      })
      const isTruncated = total > entryLimit
      return {
        kind: 'ListDirectoryObservation',
        content: textContent(describe(place.path, entries, total)),
        is_error: false,
        dir_path: place.path,
        entries,
        total_count: total,
        is_truncated: isTruncated,
      }
    }),
    failed: ({ dir_path }, content) => {
      const none = { entries: [], total_count: 0, is_truncated: false }
      return { kind: 'ListDirectoryObservation', content, is_error: true, dir_path, ...none }
    },
  })
}

function entryOf({ name, size, modifiedMs, place }: Entry): FileEntry {
  const { path, kind } = place
  return { name, path, is_directory: kind === 'directory', size, modified_time: new Date(modifiedMs).toISOString() }
}

function describe(path: string, entries: readonly FileEntry[], total: number): string {
  if (total === 0) return `${path} is empty`
  const lines = entries.map((entry) => {
    return entry.is_directory ? `${entry.path}/` : `${entry.path}  ${entry.size} bytes  ${entry.modified_time}`
  })
  const more = total > entries.length ? `\n[${total - entries.length} more]` : ''
  return `${lines.join('\n')}${more}`
}
