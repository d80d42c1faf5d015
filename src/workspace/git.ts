/**
 * Makes a new workspace a git repository, so that changes can be shown, and finds the repository of a folder.
 *
 * No program is started for it: the files of an empty repository are few and documented (gitrepository-layout).
 */
import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { makeFolder, removeTree, rename, writeNew } from '../base/own-files.ts'
import { isThere, realpath, stat } from '../base/read-files.ts'

const folders = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']
/** As git makes its files: the umask decides who else may read them. */
const sharedFile = 0o666

/**
 * Makes an empty repository in a folder that is not inside one, as `git init -b main` does. It is made under another
 * name, so that no half-made `.git` is ever seen. Never throws.
 */
export async function initRepository(path: string): Promise<void> {
  if (await isInRepository(path)) return
  const made = join(path, `.git.${randomUUID()}`)
  try {
    for (const folder of folders) await makeFolder(join(made, folder))
    await writeNew(join(made, 'HEAD'), 'ref: refs/heads/main\n', sharedFile)
    await writeNew(join(made, 'config'), await configFor(made), sharedFile)
    await rename(made, join(path, '.git'))
  } catch {
    // Where this is not allowed the folder is no repository, and the conversation works in it all the same. Of two
    // creations at once one fails here, because the repository of the other is not empty.
    await removeTree(made).catch(() => undefined) // What cannot be removed has a name that git does not know.
  }
}

/** Returns the configuration for the file system of a repository that has a HEAD. Git finds the same out by trying. */
async function configFor(repository: string): Promise<string> {
  const { mode } = await stat(join(repository, 'HEAD'))
  const fileMode = `filemode = ${(mode & 0o111) === 0}`
  const lines = ['repositoryformatversion = 0', fileMode, 'bare = false', 'logallrefupdates = true']
  if (await isThere(join(repository, 'hEAD'))) lines.push('ignorecase = true')
  if (process.platform === 'darwin') lines.push('precomposeunicode = true')
  return `[core]\n${lines.map((line) => `\t${line}\n`).join('')}`
}

export interface Repository {
  readonly root: string
  /** The real path of the folder, inside the repository or equal to `root`. */
  readonly folder: string
}

/**
 * Returns the repository that contains a folder, by real paths. Returns undefined if there is no repository. As in git,
 * a repository whose owner is not the owner of the folder does not count: it may be a trap above the folder.
 */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  const real = await realpath(folder).catch(() => undefined) // A missing folder has no repository.
  if (real === undefined) return undefined
  const { uid } = await stat(real)
  for (let root = real; ; root = dirname(root)) {
    const found = await stat(join(root, '.git')).catch(() => undefined) // The next folder above is tried.
    if (found !== undefined) return found.uid === uid ? { root, folder: real } : undefined
    if (dirname(root) === root) return undefined
  }
}

async function isInRepository(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await isThere(join(folder, '.git'))) return true
    if (dirname(folder) === folder) return false
  }
}
