/**
 * Locks a folder, such as the data folder, so that one process at a time uses it.
 *
 * flock(1) makes the lock where it can (lock-descriptor.ts). Elsewhere the lock is a file with a heartbeat
 * (lock-file.ts). All servers on a folder must use the same method, so flock(1) is searched in fixed places.
 */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../base/errors.ts'
import { isObject, parseJson } from '../base/json.ts'
import { removeFile, writeLoosely } from '../base/own-files.ts'
import { readFile } from '../base/read-files.ts'
import { fenceFolder } from '../base/write-fence.ts'
import type { Clock } from '../base/stamp.ts'
import { lockDescriptor } from './lock-descriptor.ts'
import { holdLockFile, type Heartbeat } from './lock-file.ts'

export interface LockOptions {
  readonly clock: Clock
  /** Called when the lock is lost. The caller must then stop writing. Never called with flock(1). */
  readonly onLost: () => void
  /** The PATH in which flock(1) is searched. Default: the usual system folders. */
  readonly searchPath?: string
  /** The intervals of the heartbeat, which is used where flock(1) cannot lock. */
  readonly heartbeat?: Heartbeat
}

export interface FolderLock {
  /** The last owner, if it ended without releasing the lock and `owner.json` describes it; otherwise undefined. */
  readonly former: DescribedOwner | undefined
  /** Writes the address of this server into `owner.json`. A failure is ignored. */
  announce(url: string): Promise<void>
  /** False when another server may own the folder. The caller must then write nothing. Always true with flock(1). */
  isOurs(): boolean
  /** Releases the lock. Idempotent. */
  release(): Promise<void>
}

interface Owner {
  readonly pid: number
  readonly host: string
  readonly started: string
  readonly url?: string
}

export interface DescribedOwner {
  readonly pid: number
  readonly text: string
  /** The address at which the owner listens; undefined if `owner.json` has none. */
  readonly url: string | undefined
}

const ownerFile = 'owner.json'

/** The folders in which flock(1) is searched. */
export const systemPath = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin'

/**
 * Takes the lock on a folder.
 * @throws AppError `owned_by_another`, which describes the owner; the errors of `lockDescriptor`; where flock(1) cannot
 * lock, the system's error when the lock file cannot be made
 */
export async function lockFolder(folder: string, options: LockOptions): Promise<FolderLock> {
  const { clock, onLost, searchPath = systemPath, heartbeat } = options
  const ownerPath = join(folder, ownerFile)
  const locked = await lockDescriptor({ path: join(folder, 'lock'), searchPath })
  const held = locked === 'unsupported'
    ? await holdLockFile({ path: join(folder, 'lock.heartbeat'), clock, onLost, ...heartbeat })
    : locked
  if (held === 'taken') throw new AppError('owned_by_another', await describeOwner(folder))
  const isOurs = (): boolean => typeof held === 'function' || held.isOurs()
  const unfence = typeof held === 'function' ? undefined : fenceFolder(folder, isOurs)
  const owner: Owner = { pid: process.pid, host: hostname(), started: new Date(clock()).toISOString() }
  // An error is ignored: `owner.json` only describes the owner.
  const write = (value: Owner) => writeLoosely(ownerPath, `${JSON.stringify(value)}\n`).catch(() => undefined)
  const former = await readOwner(folder)
  await write(owner)
  const release = async (): Promise<void> => {
    if (isOurs()) await removeFile(ownerPath).catch(() => undefined) // After an error, the lock is still released.
    unfence?.()
    await (typeof held === 'function' ? held() : held.release())
  }
  let releasing: Promise<void> | undefined
  return {
    former,
    announce: (url) => write({ ...owner, url }),
    isOurs,
    release: () => releasing ??= release(),
  }
}

/** Describes the owner of a folder, perhaps one that was killed; undefined without a readable `owner.json`. */
export async function readOwner(folder: string): Promise<DescribedOwner | undefined> {
  // A missing or unreadable file describes no owner.
  const owner = await readFile(join(folder, ownerFile), 'utf8').then(parseJson).catch(() => undefined)
  if (!isObject(owner)) return undefined
  const { pid, host, started, url } = owner
  const address = typeof url === 'string' ? ` at ${url}` : ''
  const text = `process ${String(pid)} on host ${String(host)}, started ${String(started)}${address}`
  return { pid: Number(pid), text, url: typeof url === 'string' ? url : undefined }
}

async function describeOwner(folder: string): Promise<string> {
  const owner = await readOwner(folder)
  const named = owner === undefined ? '' : `, ${owner.text}`
  const remedy = 'stop it first, or give another --data-dir'
  return `Cannot use the data folder "${folder}": another server owns it${named}; ${remedy}`
}
