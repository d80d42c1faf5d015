/**
 * The package lock of an agent with a pinned version: its packages in exact versions, with digests of their archives.
 *
 * A lock is a package-lock.json of npm (`lockfileVersion` 3) without registry addresses, so that npm uses the user's
 * registry. scripts/lock-agents makes `locks/<name>.ts`.
 */

export interface Lock {
  readonly packageName: string
  readonly version: string
  /** The platforms for which the lock has all packages, such as `linux-x64`. */
  readonly platforms: readonly string[]
  /** The packages by path, as in `package-lock.json`; the path of the root is empty. */
  readonly packages: Readonly<Record<string, unknown>>
}

/** Functions that load package locks, by agent name (the `name` in the provider table). */
export type Locks = ReadonlyMap<string, () => Promise<{ readonly lock: Lock }>>

export interface LockQuery {
  readonly name: string
  readonly packageName: string
  readonly version: string
  readonly platform: string
}

/** The package locks that this release contains. */
export const shippedLocks: Locks = new Map([
  ['claude-code', () => import('./locks/claude-code.ts')],
  ['cline', () => import('./locks/cline.ts')],
  ['codex', () => import('./locks/codex.ts')],
  ['copilot', () => import('./locks/copilot.ts')],
  ['gemini-cli', () => import('./locks/gemini-cli.ts')],
  ['opencode', () => import('./locks/opencode.ts')],
  ['qwen-code', () => import('./locks/qwen-code.ts')],
])

/** Returns the package lock of an agent; undefined if there is none for this package, version and platform. */
export async function findLock(
  locks: Locks, { name, packageName, version, platform }: LockQuery,
): Promise<Lock | undefined> {
  const lock = (await locks.get(name)?.())?.lock
  if (lock === undefined || lock.packageName !== packageName || lock.version !== version) return undefined
  return lock.platforms.includes(platform) ? lock : undefined
}

/** Returns the text of a `package-lock.json` with the packages of a lock. */
export function packageLockOf({ packages }: Lock): string {
  return JSON.stringify({ lockfileVersion: 3, requires: true, packages })
}
