/**
 * One-time codes for the sign-in to the console.
 *
 * A code is valid once, for ten minutes. If there are `codeLimit` unused codes, a new code invalidates the oldest. Only
 * digests of codes are kept, in memory. A restart invalidates all codes.
 */
import { digestOf, newSecret } from './secret.ts'

export const codeLifeMs = 10 * 60_000
const codeLimit = 20
/** The most used codes whose digests are kept. For a code that was used before these, `spend` returns `unknown`. */
const spentLimit = 100

interface Code {
  /** The time at which the code expires, in milliseconds since the epoch. */
  readonly end: number
  /** The id of the named key whose rights the session gets; undefined for the rights of a session key. */
  readonly key: string | undefined
}

export class Codes {
  readonly #clock: () => number
  /** The time of expiry and the key of each unused code, by the digest of the code. */
  readonly #codes = new Map<string, Code>()
  readonly #spent = new Set<string>()

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Makes a code. The session gets the rights of the named key with the id `key`, or those of a session key. */
  make(key?: string): string {
    const code = newSecret()
    dropOldest(this.#codes, codeLimit - 1)
    this.#codes.set(digestOf(code), { end: this.#clock() + codeLifeMs, key })
    return code
  }

  /**
   * Uses up a code, and returns the `key` with which `make` made the code. Returns `spent` for one of the last
   * `spentLimit` used codes, and `unknown` for any other code that is not valid.
   */
  spend(code: string): Pick<Code, 'key'> | 'spent' | 'unknown' {
    const digest = digestOf(code)
    const found = this.#codes.get(digest)
    if (found === undefined) return this.#spent.has(digest) ? 'spent' : 'unknown'
    this.#codes.delete(digest)
    if (this.#clock() >= found.end) return 'unknown'
    dropOldest(this.#spent, spentLimit - 1)
    this.#spent.add(digest)
    return { key: found.key }
  }
}

/** Removes the oldest entries until `most` are left. */
function dropOldest(entries: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= most) return
    entries.delete(key)
  }
}
