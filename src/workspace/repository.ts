/**
 * Places whose change git may take for configuration or code: what is below `.git`, and a directory that looks like a
 * repository without a working tree.
 *
 * The next `git status` runs what `config` and `hooks` there say, whoever calls it. A name counts in each spelling that a
 * file system may take for it: letters of the other case, dots and blanks at its end, characters that are not shown, the
 * short form of Windows. A directory is one from the second of `HEAD`, `objects` and `refs` on: so none can be made either.
 */
import { AppError } from '../base/errors.ts'
import type { DirectoryHandle } from './directory-handle.ts'

/** The place may be changed with the user's yes only. */
export class RepositoryPlace extends AppError {
  constructor(path: string) {
    super('invalid_input', `Cannot change "${path}" without the user's yes: git runs what its repository says, and nobody was asked`)
  }
}

const notShown = /[\u200b-\u200f\u202a-\u202e\u2060\u206a-\u206f\ufeff]/g

export function isGitName(name: string): boolean {
  const plain = name.normalize('NFKC').replace(notShown, '').replace(/[. ]+$/, '').toLowerCase()
  return plain === '.git' || plain === 'git~1'
}

const marks = ['HEAD', 'objects', 'refs']

/** True if the directory is a repository, or would begin to be one with an entry of this name. */
export async function isRepository(directory: DirectoryHandle, name: string): Promise<boolean> {
  const found = await Promise.all(marks.map(async (mark) => mark === name || (await directory.lstat(mark)) !== undefined))
  return found.filter((isThere) => isThere).length > 1
}
