/**
 * Locks an open file with the program flock(1), because Node has no function that locks a file.
 *
 * The lock belongs to the open file, and lasts until this process closes the file or ends. The file is never removed:
 * otherwise two servers could lock two files with the same path.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { AppError, systemCodeOf } from '../base/errors.ts'

export interface DescriptorOptions {
  readonly path: string
  /** The PATH in which flock(1) is searched. */
  readonly searchPath: string
}

/** The time after which flock(1) is killed. It may hang in the file system. */
const flockTimeoutMs = 10_000

/**
 * Takes the lock, and returns the function that unlocks. Returns `taken` if another server has the lock, and
 * `unsupported` if this system or file system cannot lock.
 * @throws AppError `storage_failed` when the file cannot be opened, `unavailable` when flock(1) is killed, or is
 * installed but cannot be started
 */
export async function lockDescriptor(
  options: DescriptorOptions,
): Promise<(() => Promise<void>) | 'taken' | 'unsupported'> {
  const { path, searchPath } = options
  const descriptor = openLock(path)
  const status = await runFlock(descriptor, searchPath).catch((error: unknown) => String(systemCodeOf(error)))
  if (status === 0) return async () => closeSync(descriptor)
  closeSync(descriptor)
  if (status === 1) return 'taken'
  // flock is not installed, or the file system has no locks.
  if (status === 'ENOENT' || typeof status === 'number') return 'unsupported'
  throw new AppError('unavailable', `Cannot lock "${path}": flock failed with ${status}`)
}

/** Opens the file as a bare descriptor: the garbage collector would close an unreferenced FileHandle. */
function openLock(path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (error) {
    throw new AppError('storage_failed', `Cannot open "${path}" to lock it: ${systemCodeOf(error)}`, { cause: error })
  }
}

/** Runs flock(1) on the descriptor. Returns the exit code, or the name of the signal that ended flock. */
async function runFlock(descriptor: number, searchPath: string): Promise<number | string> {
  const child = spawn('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    env: { PATH: searchPath },
    // Replaces the option `timeout`, whose timer would keep running after a failed spawn.
    signal: AbortSignal.timeout(flockTimeoutMs),
    killSignal: 'SIGKILL',
  })
  const [code, signal] = await once(child, 'exit')
  return typeof code === 'number' ? code : String(signal)
}
