/**
 * Measures the worst time of a regular expression: its attacks first with a short text, the slowest of them with longer
 * ones, up to the limit of its input.
 *
 * Processor time of this process is measured, not the clock, and the least of a few tries counts: a busy machine does
 * not make a pattern slow. An attempt that does not end in time is stopped, which also finds exponential patterns.
 */
import { attacksOn, type Attack } from './pattern-attacks.ts'
import type { PatternRunner } from './pattern-runner.ts'
import { parsePattern } from './pattern-syntax.ts'

export interface PatternTime {
  /** The slowest attempt at the greatest size that was tried. */
  readonly ms: number
  /** The characters of the slowest text. */
  readonly chars: number
  /** True when a longer text takes more than its share, in texts long enough to measure it. */
  readonly isSuperLinear: boolean
  /** True when the sizes up to the limit were not all tried, since a shorter text was slow already. */
  readonly isCutOff: boolean
  /** The slowest attack, in words: `"" + "a" * n + "!"`. */
  readonly attack: string
}

export interface MeasuredPattern {
  readonly source: string
  readonly flags: string
  /** True when every match in a text is wanted, not only the first. */
  readonly isRepeated: boolean
}

const firstChars = 1000
const step = 4
/** A time that fails; longer texts are not tried then. */
export const slowMs = 100
const attempts = 3
/** The attempts for a time above `slowMs`: a shared machine can run at half its speed for a second. */
const attemptsOfSlow = 20
/** A time that no slow machine explains. It is not measured again. */
const surelySlowMs = 300
/** A time below is not measured again. */
const noticedMs = 3

/** @throws SyntaxError for a pattern that cannot be read */
export function measurePattern(pattern: MeasuredPattern, limitChars: number, runner: PatternRunner): PatternTime {
  const { source, flags } = pattern
  const use: Use = (attack, chars) => timeOf(runner, pattern, attack, chars)
  const { attacks, suffixes } = attacksOn(parsePattern(source), flags)
  const start = Math.min(firstChars, limitChars)
  let ranked = rank(attacks, use, start)
  const ends = ranked.slice(0, 4).flatMap(({ attack }) => suffixes.map((suffix) => ({ ...attack, suffix })))
  ranked = rank([...ranked.slice(0, 8).map(({ attack }) => attack), ...ends], use, start)
  let chars = start
  let before: { ms: number; chars: number } | undefined
  let growth = 0
  for (let keep = 6; ; keep = Math.max(2, keep - 2)) {
    const [worst] = ranked
    if (worst === undefined) return { ms: 0, chars, isSuperLinear: false, isCutOff: false, attack: '' }
    if (before !== undefined && before.ms > 0.2) {
      growth = Math.log(worst.ms / before.ms) / Math.log(chars / before.chars)
    }
    if (chars >= limitChars || worst.ms > slowMs) {
      const { ms, attack } = worst
      return { ms, chars, isSuperLinear: growth > 1.7 && ms > 5, isCutOff: chars < limitChars, attack: wordsOf(attack) }
    }
    before = { ms: worst.ms, chars }
    chars = Math.min(limitChars, chars * step)
    ranked = rank(ranked.slice(0, keep).map(({ attack }) => attack), use, chars)
  }
}

interface Timed {
  readonly attack: Attack
  readonly ms: number
}

/** Returns the processor time of an attack. */
type Use = (attack: Attack, chars: number) => number

/** The attacks, the slowest first. */
function rank(attacks: readonly Attack[], use: Use, chars: number): readonly Timed[] {
  const timed: Timed[] = []
  for (const attack of attacks) {
    const ms = use(attack, chars)
    timed.push({ attack, ms })
    if (ms > slowMs) break
  }
  return timed.sort((a, b) => b.ms - a.ms)
}

/** The least processor time of a few attempts. A text that overflows the stack of the engine takes for ever. */
function timeOf(runner: PatternRunner, pattern: MeasuredPattern, attack: Attack, chars: number): number {
  let least = Infinity
  for (let attempt = 0; attempt < (least > slowMs ? attemptsOfSlow : attempts) && least > noticedMs; attempt++) {
    const { ms, isOver } = runner.attempt(pattern, attack, chars)
    if (!isOver && ms > slowMs) return ms
    if (isOver) least = Math.min(least, ms)
    if (least > surelySlowMs) return least
  }
  return least
}

function wordsOf({ prefix, pump, suffix }: Attack): string {
  return `${JSON.stringify(prefix)} + ${JSON.stringify(pump)} * n + ${JSON.stringify(suffix)}`
}
