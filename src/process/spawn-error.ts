/**
 * Explains in plain words why a program could not be started.
 *
 * The system reports ENOENT for a missing program, a missing interpreter and a missing working folder. A later check of
 * the disk tells them apart.
 */
import { constants } from 'node:fs'
import { resolve } from 'node:path'
import { systemCodeOf } from '../base/errors.ts'
import { access, stat } from '../base/read-files.ts'

export async function explainSpawnError(error: unknown, tried: { command: string, cwd: string }): Promise<string> {
  const { command, cwd } = tried
  const code = systemCodeOf(error)
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') return `the system answered ${code}`
  const folder = await stat(cwd).catch(systemCodeOf)
  if (folder === 'ENOENT') return `the folder "${cwd}" does not exist`
  if (typeof folder === 'object' && !folder.isDirectory()) return `"${cwd}" is not a folder`
  if (!await may(cwd, constants.X_OK)) return `the folder "${cwd}" may not be entered`
  if (code === 'EACCES') return 'it is not a file that may be executed'
  if (!command.includes('/')) return 'there is no such program in the PATH'
  const exists = await may(resolve(cwd, command), constants.F_OK)
  return exists ? 'the interpreter that its first line names does not exist' : 'there is no such file'
}

function may(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(() => true, () => false) // Any error counts as no access.
}
