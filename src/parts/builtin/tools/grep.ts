/** The tool `grep`: finds files by content, newest first (contract/payloads.md, section 3). */
import { findByContent } from '../workspace/search.ts'
import { defineTool } from './definition.ts'
import type { FileScope } from './file-scope.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'

const resultLimit = 100

export function createGrepTool(scope: FileScope): Tool {
  return defineTool({
    kind: 'GrepTool',
    action: 'GrepAction',
    observation: 'GrepObservation',
    description: [
      `Find the text files that hold a match of a regular expression, newest first, at most ${resultLimit}. The ` +
      'answer is a list of',
      'paths, without the matching lines.',
      'The expression is one of JavaScript; ^ and $ are the ends of a line, and (?i) at its beginning ignores case.',
      'Hidden files are searched only if include names them; .git and node_modules are not searched.',
    ].join('\n'),
    parameters: {
      pattern: 'The regular expression.',
      path: 'The directory to search, absolute. Default: the workspace.',
      include: 'Only files of this name, such as *.ts or *.{c,h}; with a slash, of this path below the directory.',
    },
    hints: { readOnly: true, destructive: false, idempotent: true },
    run: ({ pattern, path = '.', include }, { signal }) =>
      scope.workspace.at(path, async (place) => {
        const { editBytes, searchTimeoutMs, walkEntries } = scope.limits
        const query = { pattern, include, limitBytes: editBytes, timeoutMs: searchTimeoutMs }
        const found = await findByContent(place, query, {
          limitResults: resultLimit,
          limitEntries: walkEntries,
          signal,
        })
        const { files, count, isComplete } = found
        const more = count > resultLimit ? `\n[the ${resultLimit} newest of ${count}]` : ''
        const rest = isComplete
          ? ''
          : '\n[not everything was searched: give a deeper path, or search large files with a command]'
        return {
          kind: 'GrepObservation',
          content: textContent(
            (count === 0 ? `No file in ${place.path} holds a match` : files.join('\n')) + more + rest,
          ),
          is_error: false,
          matches: files,
          pattern,
          search_path: place.path,
          ...(include === undefined ? {} : { include_pattern: include }),
          truncated: count > resultLimit || !isComplete,
        }
      }),
    failed: ({ pattern, path, include }, content) => ({
      kind: 'GrepObservation',
      content,
      is_error: true,
      matches: [],
      pattern,
      search_path: path ?? scope.workspace.workingDir,
      ...(include === undefined ? {} : { include_pattern: include }),
      truncated: false,
    }),
  })
}
