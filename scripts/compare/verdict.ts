/**
 * Compares the differences that were found with the list of deliberate differences. Reports each difference that no
 * entry names, and each entry that names no difference any more.
 */

/** A deliberate difference. In a pattern `*` stands for any text, and `?` for one character. */
export interface Deliberate {
  /** Names of requests. */
  readonly at: string
  /** Lines of difference.ts. */
  readonly is: string
  readonly why: string
}

/** The name of a request, a line of difference.ts, and the reason why the two servers differ there. */
export function why(at: string, is: string, reason: string): Deliberate {
  return { at, is, why: reason }
}

export interface Found {
  readonly at: string
  readonly is: string
}

export interface Verdict {
  readonly unnamed: readonly Found[]
  /** Entries that no difference matches. */
  readonly stale: readonly Deliberate[]
}

export function judge(found: readonly Found[], deliberate: readonly Deliberate[]): Verdict {
  const entries = deliberate.map((entry) => ({ entry, at: patternOf(entry.at), is: patternOf(entry.is), count: 0 }))
  const unnamed = found.filter((one) => {
    const named = entries.filter(({ at, is }) => at.test(one.at) && is.test(one.is))
    for (const entry of named) entry.count++
    return named.length === 0
  })
  return { unnamed, stale: entries.filter(({ count }) => count === 0).map(({ entry }) => entry) }
}

function patternOf(text: string): RegExp {
  const quoted = text.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${quoted.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's')
}
