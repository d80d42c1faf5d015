/**
 * The tool `read_file`: returns at most 1,000 lines of a text file, without numbers (contract/payloads.md, section 3).
 */
import { defineTool } from './definition.ts'
import type { FileScope } from './file-scope.ts'
import { readRange, type FileRange } from './file-view.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'

const lineLimit = 1000

export function createReadFileTool(scope: FileScope): Tool {
  return defineTool({
    kind: 'ReadFileTool',
    action: 'ReadFileAction',
    observation: 'ReadFileObservation',
    description: `Read a text file, at most ${lineLimit} lines in a call. To read on, call again with an offset.`,
    parameters: {
      file_path: 'Path of the file: absolute, or relative to the workspace.',
      offset: 'How many lines to skip at the beginning. Default: none.',
      limit: `How many lines to read. Default and maximum: ${lineLimit}.`,
    },
    hints: { readOnly: true, destructive: false, idempotent: true },
    meta: { workspace_root: scope.workspace.workingDir },
    run: (action, { signal }) => scope.workspace.at(action.file_path, async (place) => {
      const first = (action.offset ?? 0) + 1
      const last = first + Math.min(action.limit ?? lineLimit, lineLimit) - 1
      const range = await readRange(place, { first, last }, scope, signal)
      const text = range.lines.join('\n')
      const isTruncated = range.isCut || range.first > 1 || range.total === undefined || range.last < range.total
      return {
        kind: 'ReadFileObservation',
        content: textContent(isTruncated ? `${introduce(place.path, range)}\n${text}` : text),
        is_error: false,
        file_path: place.path,
        file_content: text,
        is_truncated: isTruncated,
        lines_shown: [range.first, range.last],
        ...(range.total === undefined ? {} : { total_lines: range.total }),
      }
    }),
    failed: ({ file_path }, content) => {
      return { kind: 'ReadFileObservation', content, is_error: true, file_path, file_content: '', is_truncated: false }
    },
  })
}

function introduce(path: string, { first, last, total, isCut }: FileRange): string {
  const of = total === undefined ? '' : ` of ${total}`
  const rest = isCut ? ', cut because of their length' : ''
  return `[${path}, lines ${first} to ${last}${of}${rest}; to read on: offset ${last}]`
}
