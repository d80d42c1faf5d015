/** Everything that an audit finds in a source, as data: the page and `--json` print it. */
import { isGenerated } from '../shape/architecture.ts'
import { computedMembers } from '../shape/members.ts'
import { sizesOf } from '../shape/sizes.ts'
import type { SourceFile } from '../shape/source-file.ts'
import { castsOf } from '../shape/style.ts'
import { limitOf, patternLimits, unmeasured, usualChars, whyUnmeasured } from './pattern-limits.ts'
import { PatternRunner } from './pattern-runner.ts'
import { measurePattern, slowMs, type PatternTime } from './pattern-time.ts'
import { patternsOf, type FoundPattern } from './patterns.ts'
import {
  addressesOf, optionsOf, packagesOf, powerUsesOf, routesOf, touchesOf, unitOf, type Found, type PowerUse, type Touched,
} from './surface.ts'
import { findSwallowed, type Swallowed } from './swallowed.ts'
import { variablesOf, type Variable } from './variables.ts'

export interface Unit {
  readonly unit: string
  readonly files: number
  readonly lines: number
  readonly routes: number
  readonly options: number
  /** Files with a power. */
  readonly powerful: number
}

export interface TimedPattern {
  readonly places: readonly string[]
  readonly text: string
  readonly limitChars: number
  /** The limit that bounds the text, where a row names it. */
  readonly why: string | undefined
  readonly time: PatternTime
}

export interface MadePattern extends Found {
  /** The reason in the list `unmeasured`; undefined without one. */
  readonly why: string | undefined
}

export interface Report {
  readonly units: readonly Unit[]
  readonly routes: readonly Found[]
  readonly options: readonly Found[]
  readonly powers: readonly PowerUse[]
  /** The slowest first; empty when nothing was measured. */
  readonly patterns: readonly TimedPattern[]
  /** Expressions that are not evaluated. */
  readonly madePatterns: readonly MadePattern[]
  readonly swallowed: readonly Swallowed[]
  readonly casts: { readonly byHand: readonly Found[]; readonly generated: readonly Found[] }
  readonly variables: readonly Variable[]
  /** Members that are named by an expression. */
  readonly members: readonly Found[]
  readonly addresses: readonly Found[]
  readonly touches: readonly Touched[]
  readonly packages: readonly Found[]
  /** Sentences that each name a reason why the audit fails. */
  readonly faults: readonly string[]
}

/** @param measures false to list the regular expressions without their times */
export function reportOn(files: readonly SourceFile[], measures: boolean): Report {
  const powers = powerUsesOf(files)
  const [routes, options] = [routesOf(files), optionsOf(files)]
  const byPath = new Map(files.map((file) => [file.path, file]))
  const found = files.filter(({ path }) => !path.startsWith('src/schema/generated/openapi'))
    .flatMap((file) => patternsOf(file, (path) => byPath.get(path)))
  const madePatterns = found.filter(({ pattern }) => pattern === undefined)
    .map(({ file, line, text }) => ({ file, line, name: text, why: whyUnmeasured(file, text)?.why }))
  const patterns = measures ? timesOf(found) : []
  const swallowed = files.flatMap(findSwallowed)
  const casts = files.flatMap((file) => castsOf(file).map((line) => ({ file: file.path, line, name: 'as' })))
  const packages = packagesOf(files)
  const within = (unit: string) => ({ file }: Found | PowerUse): boolean => unitOf(file) === unit
  return {
    units: sizesOf(files).map(({ unit, files: count, lines }) => ({
      unit, files: count, lines,
      routes: routes.filter(within(unit)).length,
      options: options.filter(within(unit)).length,
      powerful: new Set(powers.filter(within(unit)).map(({ file }) => file)).size,
    })),
    routes, options, powers, patterns, swallowed, packages,
    madePatterns,
    casts: {
      byHand: casts.filter(({ file }) => !isGenerated(file)), generated: casts.filter(({ file }) => isGenerated(file)),
    },
    variables: variablesOf(files), members: membersOf(files), addresses: addressesOf(files), touches: touchesOf(files),
    faults: [
      ...patterns.filter(({ time }) => time.ms > slowMs).map((one) => {
        return `${one.places[0]}: ${one.text} takes ${one.time.ms.toFixed(0)} ms for ${one.time.chars} characters: ` +
          `${one.time.attack}. Write it so that it takes linear time, or name the limit of its text in ` +
          'scripts/audit/pattern-limits.ts'
      }),
      ...unusedLimits(found),
      ...madePatterns.filter(({ why }) => why === undefined).map(({ file, line, name }) => {
        return `${file}:${line}: ${name} is not evaluated: make it of constants, or give the reason in ` +
          'scripts/audit/pattern-limits.ts'
      }),
      ...swallowed.filter(({ reason }) => reason === undefined).map(({ file, line }) => {
        return `${file}:${line}: an error ends here without a reason: say in a comment why, or hand it on`
      }),
      ...casts.filter(({ file }) => !isGenerated(file)).map(({ file, line }) => `${file}:${line}: a cast`),
      ...packages.map(({ file, line, name }) => `${file}:${line}: imports the package "${name}"`),
    ],
  }
}

function membersOf(files: readonly SourceFile[]): readonly Found[] {
  return files.flatMap((file) => computedMembers(file).map(({ line, text }) => ({ file: file.path, line, name: text })))
}

/** Equal expressions with the same limit are measured once. */
function timesOf(found: readonly FoundPattern[]): readonly TimedPattern[] {
  const groups = new Map<string, FoundPattern[]>()
  for (const one of found) {
    const chars = limitOf(one.file, one.text)?.chars ?? usualChars
    const key = `${chars} ${one.pattern?.isRepeated === true} ${one.text}`
    if (one.pattern !== undefined) groups.set(key, [...groups.get(key) ?? [], one])
  }
  const runner = new PatternRunner()
  const times = [...groups.values()].flatMap((group): TimedPattern[] => {
    const [first] = group
    if (first?.pattern === undefined) return []
    const limit = limitOf(first.file, first.text)
    const limitChars = limit?.chars ?? usualChars
    const time = measurePattern(first.pattern, limitChars, runner)
    const places = group.map(({ file, line }) => `${file}:${line}`)
    return [{ places, text: first.text, limitChars, why: limit?.why, time }]
  })
  runner.close()
  return times.sort((a, b) => b.time.ms - a.time.ms)
}

function unusedLimits(found: readonly FoundPattern[]): readonly string[] {
  const made = found.filter(({ pattern }) => pattern === undefined)
  const unused = [
    ...patternLimits.filter((row) => !found.some(({ file, text }) => limitOf(file, text) === row)),
    ...unmeasured.filter((row) => !made.some(({ file, text }) => whyUnmeasured(file, text) === row)),
  ]
  return unused.filter(({ file }) => found.some((one) => one.file === file))
    .map(({ file, begins }) => `scripts/audit/pattern-limits.ts: no expression of ${file} begins with ${begins}`)
}
