/**
 * Makes a workspace a git repository, and finds the repository of a folder.
 *
 * No program is started: the few files of an empty repository are documented (gitrepository-layout).
 */
import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { makeFolder, removeTree, rename, writeNew } from '../base/own-files.ts'
import { isThere, realpath, stat } from '../base/read-files.ts'

const folders = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags']
/** The file mode that git uses. The umask restricts it. */
const sharedFile = 0o666

/**
 * Makes a folder an empty repository, unless the folder is inside a repository. The repository is made under another
 * name and then renamed, so that no program sees an incomplete `.git`.
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
    // An error is ignored, because a conversation works without a repository. Another call may have made it meanwhile.
    await removeTree(made).catch(() => undefined) // A folder that is left does no harm: git does not look for its name.
  }
}

/** Returns the text of git's `config`. The file `HEAD` shows whether the file system keeps modes and ignores case. */
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
  /** The real path of the folder that `findRepository` was given: `root` or a folder inside it. */
  readonly folder: string
}

/**
 * Returns the repository that contains a folder, if any. A repository does not count if its `.git` has another owner
 * than the folder: its configuration could make git run programs of that owner (compare git's `safe.directory`).
 */
export async function findRepository(folder: string): Promise<Repository | undefined> {
  const real = await realpath(folder).catch(() => undefined) // A missing folder has no repository.
  if (real === undefined) return undefined
  const { uid } = await stat(real)
  for (let root = real; ; root = dirname(root)) {
    const found = await stat(join(root, '.git')).catch(() => undefined) // After an error, the folder above is tried.
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
