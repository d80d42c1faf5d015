/**
 * The changes that the file editor makes to a file: create, edit, undo.
 *
 * A change is refused when the file has changed since it was read. The old content is kept for undo where possible.
 */
import { AppError } from '../../../base/errors.ts'
import { assertFile, readFile, removeFile, writeFile } from '../../workspace-files/files.ts'
import type { ContainedPath } from '../../workspace-files/paths.ts'
import { decodeText, encodeText, normalLineEnds, type TextFile } from '../workspace/text-file.ts'
import { readText, type FileScope } from './file-scope.ts'
import { showChange } from './numbered-lines.ts'
import type { TextEdit } from './text-edit.ts'
import type { UndoHistory } from './undo-history.ts'

export interface FileChange {
  /** The result for the model. */
  readonly text: string
  /** The text before the change; absent when there was no text file. */
  readonly before?: string
  /** The text after the change; absent when no text file is left. */
  readonly after?: string
  readonly existed: boolean
}

export interface EditorScope extends FileScope {
  readonly history: UndoHistory
}

/** Creates a file. @throws AppError `conflict` when the path exists; the errors of `encodeText`, `writeFile` */
export async function createFile(place: ContainedPath, content: string, scope: EditorScope): Promise<FileChange> {
  if (place.kind !== 'nothing') {
    throw new AppError(
      'conflict', `Cannot create "${place.path}": it exists already. Use str_replace or insert to change a file`,
    )
  }
  const version = await writeFile(place, encodeText(content), { expected: 'none' })
  const note = await remember(scope, { path: place.path, before: undefined, version })
  return { text: `Created ${place.path}${note}`, after: content, existed: false }
}

export async function editFile(
  place: ContainedPath, scope: EditorScope, edit: (file: TextFile) => TextEdit,
): Promise<FileChange> {
  const { file, bytes, version } = await readText(place, scope)
  const done = edit(file)
  const newVersion = await writeFile(place, done.bytes, { expected: version })
  const note = await remember(scope, { path: place.path, before: { bytes, version }, version: newVersion })
  const shown = showChange(done.text, done, scope.limits.textChars)
  return { text: `Edited ${place.path}${note}\n${shown}`, before: file.text, after: done.text, existed: true }
}

/**
 * Undoes the newest stored change of a file. If the change created the file, removes the file.
 * @throws AppError, such as `conflict` when the file was written again after the change, and `invalid_input` when no
 * change is stored or the old content cannot be decrypted
 */
export async function undoChange(place: ContainedPath, scope: EditorScope): Promise<FileChange> {
  assertFile(place)
  const entry = await scope.history.newest(place.path)
  if (entry === undefined) throw new AppError('invalid_input', `Cannot undo: no edit of "${place.path}" is known`)
  const { bytes } = await readFile(place, scope.limits.editBytes)
  const old = await scope.history.contentBefore(entry)
  const before = textOf(bytes)
  if (old === undefined) {
    await removeFile(place, entry.version)
    await scope.history.forget(entry, 'none')
    return { text: `Undone: ${place.path} did not exist before and is removed`, ...before, existed: true }
  }
  await scope.history.forget(entry, await writeFile(place, old, { expected: entry.version }))
  const after = textOf(old).before
  return {
    text: `Undone: the last edit of ${place.path}`,
    ...before,
    ...(after === undefined ? {} : { after }),
    existed: true,
  }
}

/** Keeps a change for undo. Returns an empty text, or a note for the model when the change cannot be kept. */
async function remember(scope: EditorScope, change: Parameters<UndoHistory['record']>[0]): Promise<string> {
  try {
    await scope.history.record(change)
    return ''
  } catch (thrown) {
    if (thrown instanceof AppError) return ' (this cannot be undone: the former content could not be kept)'
    throw thrown
  }
}

function textOf(bytes: Buffer): { readonly before?: string } {
  const file = decodeText(bytes)
  return file === undefined ? {} : { before: normalLineEnds(file.raw) }
}
