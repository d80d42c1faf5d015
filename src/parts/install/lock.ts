/**
 * The lock of a pinned agent: all its packages in exact versions, with the digests of their archives. With a lock every
 * installation gets the same bytes, or fails.
 *
 * A lock is a package-lock.json of npm (`lockfileVersion` 3) without registry addresses, so npm uses the registry of
 * the user's npm configuration. `locks/<name>.json` is made by scripts/lock-agents. A lock is used only on the
 * platforms that it lists as complete.
 */
import { isObject, parseJson } from '../../base/json.ts'
import { readFile } from '../../base/read-files.ts'

export interface Lock {
  readonly packageName: string
  readonly version: string
  /** The platforms for which the lock is complete, such as `linux-x64`. */
  readonly platforms: readonly string[]
  /** The packages by path, as in `package-lock.json`; the path of the root is empty. */
  readonly packages: Readonly<Record<string, unknown>>
}

export interface LockQuery {
  readonly name: string
  readonly packageName: string
  readonly version: string
  readonly platform: string
}

/** The folder with the locks of this release. */
export const shippedLocks = new URL('./locks/', import.meta.url)

/** Returns the lock for a package, version and platform; undefined when the folder has none. */
export async function findLock(
  folder: URL, { name, packageName, version, platform }: LockQuery,
): Promise<Lock | undefined> {
  const text = await readFile(new URL(`${encodeURIComponent(name)}.json`, folder), 'utf8').catch(() => '{}')
  const lock = parseJson(text)
  if (!isLock(lock) || lock.packageName !== packageName || lock.version !== version) return undefined
  return lock.platforms.includes(platform) ? lock : undefined
}

/** Returns the text of a package-lock.json with the packages of a lock. */
export function packageLockOf({ packages }: Lock): string {
  return JSON.stringify({ lockfileVersion: 3, requires: true, packages })
}

function isLock(value: unknown): value is Lock {
  if (!isObject(value)) return false
  const { packageName, version, platforms, packages } = value
  return (
    typeof packageName === 'string' && typeof version === 'string' && Array.isArray(platforms) && isObject(packages)
  )
}
