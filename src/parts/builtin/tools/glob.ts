/**
 * The tool `glob`: finds files by name, newest first (contract/payloads.md, section 3).
 *
 * `truncated` is true from 100 matches on, and when the search was incomplete.
 */
import { findByName } from '../workspace/search.ts'
import { defineTool } from './definition.ts'
import type { FileScope } from './file-scope.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'

const resultLimit = 100

export function createGlobTool(scope: FileScope): Tool {
  return defineTool({
    kind: 'GlobTool',
    action: 'GlobAction',
    observation: 'GlobObservation',
    description: [
      `Find files by name, newest first, at most ${resultLimit}.`,
      'Patterns: * and ? within a name, ** for any number of directories, [abc], {one,other}; for example **/*.ts or',
      'src/**/{index,main}.*. Hidden files are found only by a pattern with the dot; .git and node_modules are not ' +
      'searched.',
    ].join('\n'),
    parameters: {
      pattern: 'The pattern, relative to the directory.',
      path: 'The directory to search, absolute. Default: the workspace.',
    },
    hints: { readOnly: true, destructive: false, idempotent: true },
    run: ({ pattern, path = '.' }, { signal }) =>
      scope.workspace.at(path, async (place) => {
        const limits = { limitResults: resultLimit, limitEntries: scope.limits.walkEntries, signal }
        const { files, count, isComplete } = await findByName(place, pattern, limits)
        const more = count > resultLimit ? `\n[the ${resultLimit} newest of ${count}]` : ''
        const rest = isComplete ? '' : '\n[not everything was searched: give a deeper path]'
        return {
          kind: 'GlobObservation',
          content: textContent(
            (count === 0 ? `No file in ${place.path} matches "${pattern}"` : files.join('\n')) + more + rest,
          ),
          is_error: false,
          files,
          pattern,
          search_path: place.path,
          truncated: count >= resultLimit || !isComplete,
        }
      }),
    failed: ({ pattern, path }, content) => {
      const search_path = path ?? scope.workspace.workingDir
      return { kind: 'GlobObservation', content, is_error: true, files: [], pattern, search_path, truncated: false }
    },
  })
}
