/**
 * Yields the files and folders in a folder on this machine, in the form of an archive's entries.
 *
 * Links, devices, pipes, sockets, `.git`, and the content of `node_modules` and of private folders are left out.
 */
import { AppError } from '../../base/errors.ts'
import { walkTree } from '../workspace-files/directory.ts'
import { openFile } from '../workspace-files/files.ts'
import type { Machine } from '../workspace-files/machine.ts'
import { entryLimit, noContent, tooMuch, unpackedLimitBytes, unusable, type Entry } from './archive/entry.ts'

const pieceBytes = 64 * 1024

/** Yields the entries below `path`. @throws AppError `bad_request`, `forbidden`, `not_found`; the signal's reason */
export async function* folderEntries(
  machine: Machine, path: string, signal: AbortSignal,
): AsyncGenerator<Entry, void> {
  const found = await listFiles(machine, path, signal)
  const budget = { left: unpackedLimitBytes }
  for (const { name, isFolder, isExecutable } of found) {
    const content = isFolder ? noContent : fileContent(machine, `${path}/${name}`, budget)
    yield { name, kind: isFolder ? 'folder' : 'file', target: '', isExecutable, content }
  }
}

interface FoundFile {
  readonly name: string
  readonly isFolder: boolean
  readonly isExecutable: boolean
}

function listFiles(machine: Machine, path: string, signal: AbortSignal): Promise<readonly FoundFile[]> {
  return machine.at(path, async (place) => {
    const found: FoundFile[] = []
    const { isComplete } = await walkTree(place, {
      signal,
      limitEntries: entryLimit,
      async visit({ name, relativePath, place: { kind, directory } }) {
        if (kind === 'special' || name === '.git') return false
        const mode = kind === 'file' ? ((await directory.lstat(name))?.mode ?? 0n) : 0n
        found.push({ name: relativePath, isFolder: kind === 'directory', isExecutable: (mode & 0o100n) !== 0n })
        return true
      },
    })
    if (!isComplete) throw unusable(`the folder has more than ${entryLimit} entries, or an entry that cannot be read`)
    return found
  })
}

async function* fileContent(
  machine: Machine, path: string, budget: { left: number },
): AsyncGenerator<Buffer, void> {
  const file = await machine.at(path, openFile)
  try {
    for (let position = 0; ;) {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(pieceBytes), position })
      if (bytesRead === 0) return
      position += bytesRead
      budget.left -= bytesRead
      if (budget.left < 0) throw tooMuch(unpackedLimitBytes)
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** Tells whether a path names a folder. @throws AppError `not_found`, `bad_request`, `forbidden` */
export function isFolder(machine: Machine, path: string): Promise<boolean> {
  return machine.at(path, async ({ kind }) => {
    if (kind === 'nothing') throw new AppError('not_found', `Cannot find "${path.slice(0, 300)}"`)
    return kind === 'directory'
  })
}
