/**
 * The tool `edit`: replaces a text that occurs an expected number of times, or creates a file.
 *
 * The undo history of the file editor does not keep these edits.
 */
import type { EditAction } from '../../../schema/generated/actions.ts'
import type { EditObservation } from '../../../schema/generated/observations.ts'
import { AppError } from '../../../base/errors.ts'
import { writeFile } from '../../workspace-files/files.ts'
import type { ContainedPath } from '../../workspace-files/paths.ts'
import { encodeText } from '../workspace/text-file.ts'
import { defineTool } from './definition.ts'
import { contentMember, readText, type FileScope } from './file-scope.ts'
import { showChange } from './numbered-lines.ts'
import { replaceOccurrences } from './text-edit.ts'
import { textContent, type Tool } from '../../../agents/tool.ts'

export function createEditTool(scope: FileScope): Tool {
  return defineTool({
    kind: 'EditTool',
    action: 'EditAction',
    observation: 'EditObservation',
    description: [
      'Replace text in a file, or create a file.',
      'old_string must occur in the file exactly expected_replacements times, with all white space as in the file; ' +
      'take',
      'enough lines around it to make it unique. An empty old_string creates the file with new_string as its content;',
      'missing directories are made and an existing file is refused. Line ends and encoding of a file are kept.',
    ].join('\n'),
    parameters: {
      file_path: 'Path of the file: absolute, or relative to the workspace.',
      old_string: 'The text to replace; empty to create a file.',
      new_string: 'The text in its place.',
      expected_replacements: 'How many times old_string occurs. Default: 1.',
    },
    hints: { readOnly: false, destructive: true, idempotent: false },
    meta: { workspace_root: scope.workspace.workingDir },
    run: (action, { signal, isApproved }) => scope.change(() => scope.workspace.at(action.file_path, (place) => {
      signal.throwIfAborted()
      return action.old_string === '' ? create(action, place, scope) : replace(action, place, scope)
    }, { makeParents: action.old_string === '', refusesRepositories: isApproved !== true })),
    asks: ({ file_path }) => scope.workspace.isInRepository(file_path),
    failed: ({ file_path }, content) => {
      return { kind: 'EditObservation', content, is_error: true, file_path, is_new_file: false, replacements_made: 0 }
    },
  })
}

async function create({ new_string }: EditAction, place: ContainedPath, scope: FileScope): Promise<EditObservation> {
  if (place.kind !== 'nothing') {
    throw new AppError(
      'conflict', `Cannot create "${place.path}": it exists already. Give the old_string that is to be replaced`,
    )
  }
  await writeFile(place, encodeText(new_string), { expected: 'none' })
  return {
    kind: 'EditObservation',
    content: textContent(`Created ${place.path}`),
    is_error: false,
    file_path: place.path,
    is_new_file: true,
    replacements_made: 1,
    ...contentMember('new_content', new_string, scope),
  }
}

async function replace(action: EditAction, place: ContainedPath, scope: FileScope): Promise<EditObservation> {
  const { file, version } = await readText(place, scope)
  const { old_string: from, new_string: to, expected_replacements: expected } = action
  const edit = replaceOccurrences(file, { from, to, expected })
  await writeFile(place, edit.bytes, { expected: version })
  const times = edit.count === 1 ? '1 replacement' : `${edit.count} replacements, the first:`
  return {
    kind: 'EditObservation',
    content: textContent(`Edited ${place.path}, ${times}\n${showChange(edit.text, edit, scope.limits.textChars)}`),
    is_error: false,
    file_path: place.path,
    is_new_file: false,
    replacements_made: edit.count,
    ...contentMember('old_content', file.text, scope),
    ...contentMember('new_content', edit.text, scope),
  }
}
