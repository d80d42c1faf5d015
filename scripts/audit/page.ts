/** Prints a report for people: a summary of one screen, then a section for each question; whole lists with `full`. */
import { formatRows } from '../../src/base/rows.ts'
import type { Changes } from './changes.ts'
import { slowMs } from './pattern-time.ts'
import type { Report, TimedPattern } from './report.ts'
import type { Found } from './surface.ts'

export interface PageOptions {
  readonly full: boolean
  /** The commit that the changes begin at, in words. */
  readonly since: string | undefined
  readonly changes: Changes | undefined
  /** What could not be looked at, a sentence each. */
  readonly leftOut: readonly string[]
}

export function printPage(report: Report, options: PageOptions): string {
  const { since, changes, leftOut, full } = options
  return [
    'SUMMARY', summaryOf(report), ...leftOut.map((one) => `Left out: ${one}`), '',
    'PARTS', unitTable(report), '',
    'POWERS: which file, by which door, at which lines (SECURITY.md: "Which file can do harm")',
    powersOf(report, full), '',
    'WHAT A RUNNING SERVER TOUCHES (SECURITY.md has the same table; npm run check:trace compares)', touched(report), '',
    'ENVIRONMENT VARIABLES whose names stand in the source; beside them AGENT_SERVER_NAME for each option',
    placesOf(report.variables, full), '',
    'ADDRESSES that stand in the source: providers and examples; none is connected to unless it is configured',
    placesOf(report.addresses, full), '',
    `REGULAR EXPRESSIONS: the slowest at the limit of their text, in ms of processor time (limit ${slowMs})`,
    patternTable(report, full), '',
    'ERRORS THAT END WHERE THEY ARE CAUGHT, with the reason beside each', swallowedOf(report, full), '',
    'CASTS (as, without as const)', castsOf(report), '',
    ...(full ? ['ROUTES', ...report.routes.map(({ file, name }) => `  ${name}  (${file})`), ''] : []),
    ...(since === undefined || changes === undefined ? [] : [`CHANGED SINCE ${since}`, changed(changes, full), '']),
    ...(report.faults.length === 0 ? ['No fault.'] : ['FAULTS', ...report.faults.map((one) => `  ${one}`)]),
  ].join('\n')
}

function summaryOf(report: Report): string {
  const { units, powers, patterns, swallowed, casts, packages, madePatterns } = report
  const lines = units.reduce((sum, unit) => sum + unit.lines, 0)
  const [slowest] = patterns
  const core = units.find(({ unit }) => unit === 'core')
  const superLinear = patterns.filter(({ time }) => time.isSuperLinear)
  return formatRows([
    ['Source', `${lines} lines by hand: core ${core?.lines ?? 0}, ${units.length - 1} parts`],
    ['Interface', `${report.routes.length} routes, each with a right; ${report.options.length} options`],
    ['Powers', `${new Set(powers.map(({ file }) => file)).size} files can do harm; the others compute`],
    ['Packages', `${packages.length} at run time`],
    ['Regular expressions', slowest === undefined ? 'not measured' : `${patterns.length} measured, ` +
      `${patterns.filter(({ time }) => time.ms > slowMs).length} over ${slowMs} ms; slowest ` +
      `${slowest.time.ms.toFixed(0)} ms; ${superLinear.length} grow faster than their text; ` +
      `${madePatterns.length} not evaluated`],
    ['Swallowed errors', `${swallowed.length}, ${unexplained(swallowed).length} without a reason`],
    ['Casts', `${casts.byHand.length} by hand, ${casts.generated.length} in generated code`],
    ['Faults', `${report.faults.length}`],
  ])
}

function unexplained(swallowed: Report['swallowed']): Report['swallowed'] {
  return swallowed.filter(({ reason }) => reason === undefined)
}

function unitTable({ units }: Report): string {
  return formatRows([
    ['', 'files', 'lines', 'routes', 'options', 'powers'],
    ...units.map(({ unit, files, lines, routes, options, powers }) =>
      [unit, `${files}`, `${lines}`, `${routes}`, `${options}`, powers.join('; ')]),
  ])
}

function powersOf({ powers }: Report, full: boolean): string {
  return [...new Set(powers.map(({ power }) => power))].flatMap((power) => {
    const uses = powers.filter((use) => use.power === power)
    const files = [...new Set(uses.map(({ file }) => file))]
    const places = files.map((file) => {
      const own = uses.filter((use) => use.file === file)
      const doors = own.map(({ door, lines }) => `${door.split(' of ')[0] ?? door}:${lines.slice(0, 8).join(',')}`)
      return `    ${file}  ${doors.join('  ')}`
    })
    const isShort = full || files.length <= 10
    const few = `    ${files.slice(0, 3).join(', ')} and ${files.length - 3} more (--full)`
    return [`  ${power}: ${files.length} files`, ...(isShort ? places : [few])]
  }).join('\n')
}

function touched({ touches }: Report): string {
  if (touches.length === 0) return '  no list: this source has no part selftest'
  return formatRows(touches.map(({ kind, name, why }) => [`  ${kind}`, name, why]))
}

function placesOf(found: readonly Found[], full: boolean): string {
  const names = [...new Set(found.map(({ name }) => name))].sort()
  if (!full) return wrapped(names)
  return formatRows(names.map((name) => {
    const places = found.filter((one) => one.name === name).map(({ file, line }) => `${file}:${line}`)
    return [`  ${name}`, places.join(' ')]
  }))
}

function wrapped(words: readonly string[]): string {
  const lines = ['']
  for (const word of words) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length > 116) lines.push(`  ${word}`)
    else lines[lines.length - 1] = `${last}${last === '' ? '  ' : ' '}${word}`
  }
  return lines.join('\n')
}

function patternTable({ patterns, madePatterns }: Report, full: boolean): string {
  const shown = full ? patterns : patterns.slice(0, 12)
  const made = madePatterns.map(({ file, line, name, why }) => {
    return [`  ${file}:${line}`, name.length > 60 ? `${name.slice(0, 57)}...` : name, why ?? 'NO REASON']
  })
  return [
    formatRows([['  ms', 'characters', 'growth', 'place', 'expression'], ...shown.map(patternRow)]),
    ...(full ? [] : [`  and ${patterns.length - shown.length} faster ones (--full)`]),
    ...(made.length === 0 ? [] : ['  Not evaluated and not measured, with the reason:', formatRows(made)]),
  ].join('\n')
}

function patternRow({ places: [place = '', ...more], text, time, why }: TimedPattern): readonly string[] {
  const chars = `${time.chars}${why === undefined ? '' : ` (${why})`}`
  const growth = time.isSuperLinear ? 'faster' : 'linear'
  const places = more.length === 0 ? place : `${place} +${more.length}`
  return [`  ${time.ms.toFixed(1)}`, chars, growth, places, text.slice(0, 60)]
}

function swallowedOf({ swallowed }: Report, full: boolean): string {
  const missing = unexplained(swallowed)
  const shown = full ? swallowed : missing
  const rows = shown.map(({ file, line, code, reason }) => `  ${file}:${line}  ${code}  // ${reason ?? 'NO REASON'}`)
  const hint = full ? '' : ' (--full lists them)'
  return [`  ${swallowed.length} in all, ${missing.length} without a reason${hint}`, ...rows].join('\n')
}

function castsOf({ casts: { byHand, generated } }: Report): string {
  const places = (found: readonly Found[]): string => found.map(({ file, line }) => `${file}:${line}`).join(' ')
  return [
    `  by hand: ${byHand.length} ${places(byHand)}`,
    `  generated: ${generated.length}, one where a validator of an object returns: ` +
      `${places(generated.slice(0, 5))} ...`,
  ].join('\n')
}

function changed({ lines, added, removed }: Changes, full: boolean): string {
  const lists = ([title, all]: readonly [string, Changes['added']]): string[] =>
    Object.entries(all).filter(([, list]) => list.length > 0).flatMap(([name, list]) => {
      const shown = full ? list : list.slice(0, 10)
      const more = list.length - shown.length
      const rest = more > 0 ? [`    and ${more} more (--full)`] : []
      return [`  ${title} ${name}: ${list.length}`, ...shown.map((one) => `    ${one}`), ...rest]
    })
  return [
    formatRows([['  lines', 'before', 'now'], ...lines.map((one) => [`  ${one.unit}`, `${one.before}`, `${one.now}`])]),
    ...lists(['New', added]), ...lists(['Gone', removed]),
  ].join('\n')
}
