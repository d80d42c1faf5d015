/**
 * Detects places that git may take for configuration or code: `.git` with everything in it, and a directory that looks
 * like a bare repository. The next `git status` of any user may run commands that files in these places name.
 *
 * A directory is refused as soon as it has two of `HEAD`, `objects` and `refs`: the third would make it a repository.
 */
import { AppError } from '../../base/errors.ts'
import type { DirectoryHandle } from './directory-handle.ts'

/** The error for a change of a repository without the user's confirmation. */
export class RepositoryPlace extends AppError {
  constructor(path: string) {
    const problem = 'git runs commands that files of its repository name, and the user was not asked'
    super('invalid_input', `Cannot change "${path}" without the user's confirmation: ${problem}`)
  }
}

const notShown = /[\u200b-\u200f\u202a-\u202e\u2060\u206a-\u206f\ufeff]/g

export function isGitName(name: string): boolean {
  const plain = name.normalize('NFKC').replace(notShown, '').replace(/(?<![. ])[. ]+$/, '').toLowerCase()
  return plain === '.git' || plain === 'git~1'
}

const marks = ['HEAD', 'objects', 'refs']

/** True if the directory has at least two of `marks`. The entry `name` counts as present, even if it is missing. */
export async function isRepository(directory: DirectoryHandle, name: string): Promise<boolean> {
  const isMark = async (mark: string): Promise<boolean> => mark === name || (await directory.lstat(mark)) !== undefined
  const found = await Promise.all(marks.map(isMark))
  return found.filter((isThere) => isThere).length > 1
}
