/**
 * What the file tools of one conversation share: its workspace, their limits, and their turns at changing files.
 *
 * Changes go one after the other, because a model may call several tools at once and two changes of one file would
 * otherwise be made of the same old content. Texts for the model have a limit; contents that only clients look at
 * (`old_content`, `new_content`) are left out when they are longer than theirs.
 */
import { AppError } from '../../../base/errors.ts'
import { readFile, type FileContent } from '../../../workspace/files.ts'
import { createWorkspace, type ContainedPath, type Workspace } from '../../../workspace/paths.ts'
import { decodeText, type TextFile } from '../workspace/text-file.ts'
import { notText } from '../workspace/text-lines.ts'

export interface FileScope {
  readonly workspace: Workspace
  readonly limits: FileLimits
  /** Runs changes one after the other. */
  change<T>(body: () => Promise<T>): Promise<T>
}

export interface FileLimits {
  /** Of a file that is read whole or edited. */
  readonly editBytes: number
  /** Of a text for the model. */
  readonly textChars: number
  /** Of each of `old_content` and `new_content`. */
  readonly contentChars: number
  /** Of a search or a listing. */
  readonly walkEntries: number
  /** Of a search by content, for its expression. */
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
      last = done.catch(() => undefined)
      return done
    },
  }
}

export interface OpenedText extends FileContent {
  readonly file: TextFile
}

/** A text file that is small enough to be edited. @throws AppError */
export async function readText(place: ContainedPath, { limits }: FileScope): Promise<OpenedText> {
  const content = await readFile(place, limits.editBytes)
  const file = decodeText(content.bytes)
  if (file === undefined) throw notText(place)
  return { ...content, file }
}

/** One of the two contents that clients show as a difference, unless it is too long or no text. */
export function contentMember<K extends string>(name: K, text: string | undefined, scope: FileScope): { readonly [N in K]?: string } {
  const member: { [N in K]?: string } = {}
  if (text !== undefined && text.length <= scope.limits.contentChars) member[name] = text
  return member
}

/** A parameter that a command cannot do without. @throws AppError `invalid_input` */
export function needed<T>(name: string, value: T | undefined, command: string): T {
  if (value !== undefined) return value
  throw new AppError('invalid_input', `Cannot ${command} without the parameter ${name}`)
}
