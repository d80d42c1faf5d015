/**
 * What a pinned agent consists of: every package below it, in its exact version and with the digest of its archive.
 *
 * A lock is npm's own (package-lock.json, `lockfileVersion` 3) without what npm can do without: where a package was
 * found, which is the user's npm configuration's matter, and what only people read. `locks/<name>.json` holds the one
 * of a provider's pinned version, made by scripts/lock-agents. With it an installation brings the same bytes at any
 * time, or fails. A lock counts for the platforms on which nothing is missing in it.
 */
import { readFile } from 'node:fs/promises'
import { isObject, parseJson } from '../../base/json.ts'

export interface Lock {
  readonly packageName: string
  readonly version: string
  /** As `linux-x64`. */
  readonly platforms: readonly string[]
  /** As in `package-lock.json`, by path; the path of the root is empty. */
  readonly packages: Readonly<Record<string, unknown>>
}

export interface LockQuery {
  readonly name: string
  readonly packageName: string
  readonly version: string
  readonly platform: string
}

/** Where the locks of this release are. */
export const shippedLocks = new URL('./locks/', import.meta.url)

/** Undefined where that version is not locked for that platform. */
export async function findLock(
  folder: URL, { name, packageName, version, platform }: LockQuery,
): Promise<Lock | undefined> {
  const text = await readFile(new URL(`${encodeURIComponent(name)}.json`, folder), 'utf8').catch(() => '{}')
  const lock = parseJson(text)
  if (!isLock(lock) || lock.packageName !== packageName || lock.version !== version) return undefined
  return lock.platforms.includes(platform) ? lock : undefined
}

/** The file that npm reads. */
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
