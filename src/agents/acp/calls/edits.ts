/**
 * Finds the changes of files that a tool call makes, in its diffs, its input and its result. Pure.
 *
 * Agents describe changes in different forms. The first form in which changes are found is used.
 */
import { basename, resolve } from 'node:path'
import { memberAt, numberOf, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import { readApplyPatch, readUnifiedDiff, type PatchChange } from './patch-text.ts'
import { diffsOf, type ToolCall } from './tool-calls.ts'

export type Edit =
  | PatchChange
  | { readonly do: 'insert'; readonly path: string; readonly line: number; readonly newText: string }

/** A call with more changes than this is not shown as edits. */
const editLimit = 50

/** Returns a call's changes of files; none for the kinds execute, read and search, or above `editLimit` changes. */
export function editsOf(call: ToolCall, workingDir: string): readonly Edit[] {
  if (call.kind === 'execute' || call.kind === 'read' || call.kind === 'search') return []
  for (const source of sources) {
    const edits = source(call)
    if (edits.length > editLimit) return []
    if (edits.length > 0) return edits.map((edit) => placed(edit, call, workingDir))
  }
  return []
}

/** One function for each form of edits. The first that finds edits is used. Each update may run all of them. */
const sources = [diffEdits, fileEdits, patchEdits, unifiedEdits, wordEdits, resultEdits] as const

export function lengthOf(edit: Edit): number {
  return ('oldText' in edit ? edit.oldText.length : 0) + ('newText' in edit ? edit.newText.length : 0)
}

function diffEdits(call: ToolCall): readonly Edit[] {
  return diffsOf(call).map(({ path, oldText, newText, change }): Edit => {
    if (change === 'delete' || (call.kind === 'delete' && newText === '')) return { do: 'delete', path }
    return oldText === null ? { do: 'create', path, newText } : { do: 'replace', path, oldText, newText }
  })
}

/** Reads opencode's `files` (with `type` and `patch`) in the input of a permission request or the result of a call. */
function fileEdits({ input, rawOutput }: ToolCall): readonly Edit[] {
  const asked = objectsOf(memberAt(input, 'files'))
  const files = asked.length > 0 ? asked : objectsOf(memberAt(rawOutput, 'metadata', 'files'))
  return files.flatMap((file) => editsOfFile(file))
}

function editsOfFile(file: Fields): readonly Edit[] {
  const [path, to] = [textOf(file['filePath']), textOf(file['movePath'])]
  if (path === undefined || typeof file['patch'] !== 'string') return []
  if (file['type'] === 'delete') return [{ do: 'delete', path }]
  const changes = readUnifiedDiff(file['patch']).map((change): Edit => {
    return file['type'] === 'add' && change.do === 'replace' && change.oldText === ''
      ? { do: 'create', path, newText: change.newText }
      : { ...change, path: to ?? path }
  })
  return to === undefined ? changes : [{ do: 'move', path, to }, ...changes]
}

const patchNames = ['input', 'patchText', 'patch'] as const

function patchEdits({ input }: ToolCall): readonly Edit[] {
  const patch = typeof input === 'string' ? input : firstText(input, patchNames)
  return patch === undefined ? [] : readApplyPatch(patch)
}

function unifiedEdits({ kind, input }: ToolCall): readonly Edit[] {
  const diff = memberAt(input, 'diff')
  return kind === 'edit' && typeof diff === 'string' ? readUnifiedDiff(diff) : []
}

function wordEdits({ kind, input }: ToolCall): readonly Edit[] {
  const path = kind === 'edit' ? pathIn(input) : undefined
  if (path === undefined) return []
  const [text, line] = [memberAt(input, 'file_text'), numberOf(memberAt(input, 'insert_line'))]
  const oldText = firstText(input, ['old_str', 'old_string', 'oldString'])
  const newText = firstText(input, ['new_str', 'new_string', 'newString'])
  const command = memberAt(input, 'command')
  if (command === 'create' && typeof text === 'string') return [{ do: 'create', path, newText: text }]
  if (command === 'insert' && line !== undefined && newText !== undefined) {
    return [{ do: 'insert', path, line, newText }]
  }
  if (oldText === undefined || oldText === '') return []
  // Only `str_replace` may leave out the new text: it then removes the old text.
  const after = newText ?? (command === 'str_replace' ? '' : undefined)
  return after === undefined ? [] : [{ do: 'replace', path, oldText, newText: after }]
}

function resultEdits({ kind, rawOutput }: ToolCall): readonly Edit[] {
  if (kind !== 'edit') return []
  const members = [['metadata', 'diff'], ['detailedContent'], ['fileDiff']]
  const places = members.map((path) => memberAt(rawOutput, ...path))
  const diff = places.find((text) => typeof text === 'string')
  return typeof diff === 'string' ? readUnifiedDiff(diff) : []
}

export function pathIn(input: unknown): string | undefined {
  const names = ['path', 'file_path', 'filePath', 'fileName', 'filepath']
  return names.map((name) => textOf(memberAt(input, name))).find((path) => path !== undefined)
}

function firstText(input: unknown, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = memberAt(input, name)
    if (typeof text === 'string') return text
  }
  return undefined
}

/**
 * Returns the edit with absolute paths. A diff header may have only the end of a path. The whole path is then looked up
 * in the call's locations.
 */
function placed(edit: Edit, { locations }: ToolCall, workingDir: string): Edit {
  const known = locations.flatMap(({ path }) => textOf(path) ?? [])
  const absolute = (path: string): string => {
    const whole = known.find((one) => one === path || one.endsWith(`/${path}`))
    return resolve(workingDir, whole ?? path)
  }
  const path = absolute(edit.path)
  return edit.do === 'move' ? { ...edit, path, to: absolute(edit.to) } : { ...edit, path }
}

export function editTitle(edit: Edit): string {
  const name = basename(edit.path)
  switch (edit.do) {
    case 'create': return `Create ${name}`
    case 'replace':
    case 'insert': return `Edit ${name}`
    case 'delete': return `Delete ${name}`
    case 'move': return `Move ${name} to ${basename(edit.to)}`
  }
}
