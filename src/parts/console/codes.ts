/**
 * One-time codes, each of which begins one session of the console.
 *
 * A code has 256 random bits. It is valid once, for ten minutes, and until `codeLimit` newer codes are unspent. Only
 * digests of codes are kept, in memory, so no code is valid after a restart.
 */
import { digestOf, newSecret } from './secret.ts'

export const codeLifeMs = 10 * 60_000
const codeLimit = 20
/** The most spent codes whose digests are kept. An older spent code is reported as `unknown`. */
const spentLimit = 100

export class Codes {
  readonly #clock: () => number
  /** The time at which each unspent code expires, in milliseconds since the epoch, by the code's digest. */
  readonly #ends = new Map<string, number>()
  readonly #spent = new Set<string>()

  constructor(clock: () => number) {
    this.#clock = clock
  }

  make(): string {
    const code = newSecret()
    dropOldest(this.#ends, codeLimit - 1)
    this.#ends.set(digestOf(code), this.#clock() + codeLifeMs)
    return code
  }

  /** Spends a code. Returns `spent` for a code that was given before, else `unknown` for an invalid or expired code. */
  spend(code: string): 'ok' | 'spent' | 'unknown' {
    const digest = digestOf(code)
    const end = this.#ends.get(digest)
    if (end === undefined) return this.#spent.has(digest) ? 'spent' : 'unknown'
    this.#ends.delete(digest)
    dropOldest(this.#spent, spentLimit - 1)
    this.#spent.add(digest)
    return this.#clock() < end ? 'ok' : 'unknown'
  }
}

/** Removes the oldest entries until `most` are left. */
function dropOldest(entries: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= most) return
    entries.delete(key)
  }
}
