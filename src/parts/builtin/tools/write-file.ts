/**
 * The tool `write_file`: writes a whole file, new or existing, in UTF-8.
 *
 * Clients get the old text, if the old file was readable text and not too large. The model does not get the old text.
 */
import { readFile, writeFile } from '../../workspace-files/files.ts'
import type { ContainedPath } from '../../workspace-files/paths.ts'
import { decodeText, encodeText } from '../workspace/text-file.ts'
import { defineTool } from './definition.ts'
import { contentMember, type FileScope } from './file-scope.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'

export function createWriteFileTool(scope: FileScope): Tool {
  return defineTool({
    kind: 'WriteFileTool',
    action: 'WriteFileAction',
    observation: 'WriteFileObservation',
    description:
      'Write a whole file. An existing file is replaced, missing directories are made. To change a part of a file ' +
      'use another tool.',
    parameters: {
      file_path: 'Path of the file: absolute, or relative to the workspace.',
      content: 'The content of the file, all of it.',
    },
    hints: { readOnly: false, destructive: true, idempotent: false },
    meta: { workspace_root: scope.workspace.workingDir },
    run: (action, { signal, isApproved }) => scope.change(() => scope.workspace.at(action.file_path, async (place) => {
      signal.throwIfAborted()
      const isNew = place.kind === 'nothing'
      const before = await oldContent(place, scope)
      await writeFile(place, encodeText(action.content))
      return {
        kind: 'WriteFileObservation',
        content: textContent(`${isNew ? 'Created' : 'Replaced'} ${place.path}`),
        is_error: false,
        file_path: place.path,
        is_new_file: isNew,
        ...contentMember('old_content', before, scope),
        ...contentMember('new_content', action.content, scope),
      }
    }, { makeParents: true, refusesRepositories: isApproved !== true })),
    asks: ({ file_path }) => scope.workspace.isInRepository(file_path),
    failed: ({ file_path }, content) => ({
      kind: 'WriteFileObservation',
      content,
      is_error: true,
      file_path,
      is_new_file: false,
    }),
  })
}

/** Returns the old text for clients; undefined if there is no file with readable text of at most `editBytes`. */
async function oldContent(place: ContainedPath, scope: FileScope): Promise<string | undefined> {
  if (place.kind !== 'file') return undefined
  const content = await readFile(place, scope.limits.editBytes).catch(() => undefined) // Unreadable: no old text.
  return content === undefined ? undefined : decodeText(content.bytes)?.text
}
