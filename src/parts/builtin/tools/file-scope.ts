/**
 * The state that the file tools of a conversation share: the workspace, the limits, and a queue for changes.
 *
 * Changes run one after the other, because concurrent changes would start from the same old content.
 */
import { AppError } from '../../../base/errors.ts'
import { readFile, type FileContent } from '../../workspace-files/files.ts'
import { createWorkspace, type ContainedPath, type Workspace } from '../../workspace-files/paths.ts'
import { decodeText, type TextFile } from '../workspace/text-file.ts'
import { notText } from '../workspace/text-lines.ts'

export interface FileScope {
  readonly workspace: Workspace
  readonly limits: FileLimits
  /** Runs a change after all earlier changes have ended. Returns the result of `body`. */
  change<T>(body: () => Promise<T>): Promise<T>
}

export interface FileLimits {
  /** The largest file that is read whole or edited. */
  readonly editBytes: number
  /** The most characters of a file's text that one result shows to the model. */
  readonly textChars: number
  /** The longest `old_content` and the longest `new_content` of an observation, in characters. */
  readonly contentChars: number
  /** The most entries that a search or a listing visits. */
  readonly walkEntries: number
  /** The most time that a search by content spends on its regular expression, for all files together. */
  readonly searchTimeoutMs: number
}

export const defaultFileLimits: FileLimits = {
  editBytes: 8 * 1024 * 1024,
  textChars: 30_000,
  contentChars: 1024 * 1024,
  walkEntries: 200_000,
  searchTimeoutMs: 10_000,
}

export interface FileScopeOptions {
  readonly workingDir: string
  readonly privateDirs: readonly string[]
  readonly limits?: Partial<FileLimits>
}

export function createFileScope({ workingDir, privateDirs, limits }: FileScopeOptions): FileScope {
  let last: Promise<unknown> = Promise.resolve()
  return {
    workspace: createWorkspace({ workingDir, privateDirs }),
    limits: { ...defaultFileLimits, ...limits },
    change: (body) => {
      const done = last.then(body)
      last = done.catch(() => undefined) // The caller gets the error from `done`.
      return done
    },
  }
}

export interface OpenedText extends FileContent {
  readonly file: TextFile
}

/** Reads a text file. @throws AppError for a file that is no text; the errors of `readFile` */
export async function readText(place: ContainedPath, { limits }: FileScope): Promise<OpenedText> {
  const content = await readFile(place, limits.editBytes)
  const file = decodeText(content.bytes)
  if (file === undefined) throw notText(place)
  return { ...content, file }
}

/** Returns `{ [name]: text }`; `{}` when the text is undefined or longer than `contentChars`. */
export function contentMember<K extends string>(
  name: K, text: string | undefined, scope: FileScope,
): { readonly [N in K]?: string } {
  const member: { [N in K]?: string } = {}
  if (text !== undefined && text.length <= scope.limits.contentChars) member[name] = text
  return member
}

/** Returns a parameter that the command requires. @throws AppError `invalid_input` when it is undefined */
export function needed<T>(name: string, value: T | undefined, command: string): T {
  if (value !== undefined) return value
  throw new AppError('invalid_input', `Cannot ${command} without the parameter ${name}`)
}
