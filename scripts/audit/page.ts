/**
 * Prints a report for people: one page with the answers to a reviewer's first questions, or everything with `full`.
 *
 * Control characters of the source are printed as escape sequences, so that no text of it steers the terminal.
 */
import { formatRows } from '../../src/base/rows.ts'
import type { Changes } from './changes.ts'
import { slowMs } from './pattern-time.ts'
import type { Report, TimedPattern } from './report.ts'
import type { Found } from './surface.ts'
import { variableUses } from './variables.ts'

export interface PageOptions {
  readonly full: boolean
  /** The commit that the changes begin at, in words. */
  readonly since: string | undefined
  readonly changes: Changes | undefined
  /** Sentences that each name a thing that could not be looked at. */
  readonly leftOut: readonly string[]
}

/** The rows of a list that the page shows. */
const shownPatterns = 5
const shownChanges = 3

export function printPage(report: Report, options: PageOptions): string {
  const { since, changes, leftOut, full } = options
  return visible([
    'SUMMARY', summaryOf(report), ...leftOut.map((one) => `Left out: ${one}`),
    ...(full ? [] : ['Every list whole, with its places: npm run audit -- --full']), '',
    'PARTS', unitTable(report), '',
    'POWERS: how many files have each, and by which doors (SECURITY.md: "Which file can do harm")',
    ...(full ? powerPlaces(report) : powersOf(report)), '',
    ...(full ? ['MEMBERS NAMED BY AN EXPRESSION', placesOf(report.members), ''] : []),
    `REGULAR EXPRESSIONS: the slowest at the limit of their text, in ms of processor time (limit ${slowMs})`,
    patternTable(report, full), '',
    'ERRORS THAT END WHERE THEY ARE CAUGHT', swallowedOf(report, full), '',
    'CASTS (as, without as const)', castsOf(report, full), '',
    'ADDRESSES that stand in the source: providers and examples; none is connected to unless it is configured',
    full ? placesOf(report.addresses) : wrapped(namesOf(report.addresses)), '',
    'ENVIRONMENT VARIABLES whose names stand in the source; beside them AGENT_SERVER_NAME for each option is read',
    ...variablesOf(report, full), '',
    ...(full ? ['WHAT A RUNNING SERVER TOUCHES (npm run check:trace compares)', touched(report), ''] : []),
    ...(full ? ['ROUTES', ...report.routes.map(({ file, name }) => `  ${name}  (${file})`), ''] : []),
    ...(since === undefined || changes === undefined ? [] : [`CHANGED SINCE ${since}`, changed(changes, full), '']),
    ...(report.faults.length === 0 ? ['No fault.'] : ['FAULTS', ...report.faults.map((one) => `  ${one}`)]),
  ].join('\n'))
}

/** Replaces control characters and marks of direction by escape sequences. */
function visible(page: string): string {
  return page.replaceAll(/[\0-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
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
    ['Touched', `${report.touches.length} files, programs and addresses: the table is in SECURITY.md`],
    ['Packages', `${packages.length} at run time`],
    ['Computed members', `${report.members.length}, such as list[at + 1]; check:shape finds those that a text names`],
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
    ['', 'files', 'lines', 'routes', 'options', 'files with powers'],
    ...units.map(({ unit, files, lines, routes, options, powerful }) =>
      [`  ${unit}`, ...[files, lines, routes, options, powerful].map((count) => `${count}`)]),
  ])
}

function powersOf({ powers }: Report): readonly string[] {
  return [...new Set(powers.map(({ power }) => power))].map((power) => {
    const uses = powers.filter((use) => use.power === power)
    const files = new Set(uses.map(({ file }) => file))
    const doors = [...new Set(uses.map(({ door }) => nameOfDoor(door)))]
    return wrapped([`${power}: ${files.size} files by`, ...doors], '    ').slice(2)
  })
}

function powerPlaces({ powers }: Report): readonly string[] {
  return [...new Set(powers.map(({ power }) => power))].flatMap((power) => {
    const uses = powers.filter((use) => use.power === power)
    const files = [...new Set(uses.map(({ file }) => file))]
    return [`  ${power}: ${files.length} files`, ...files.map((file) => {
      const doors = uses.filter((use) => use.file === file)
        .map(({ door, lines }) => `${nameOfDoor(door)}:${lines.join(',')}`)
      return `    ${file}  ${doors.join('  ')}`
    })]
  })
}

function nameOfDoor(door: string): string {
  const [name = door, module = ''] = door.split(' of ')
  return name === 'all' ? `all of ${module}` : name
}

function touched({ touches: rows }: Report): string {
  if (rows.length === 0) return '  no list: this source has no part selftest'
  return formatRows(rows.map(({ kind, name, why }) => [`  ${kind}`, name, why]))
}

function namesOf(found: readonly Found[]): readonly string[] {
  return [...new Set(found.map(({ name }) => name))].sort()
}

function placesOf(found: readonly Found[]): string {
  return formatRows(namesOf(found).map((name) => {
    const places = found.filter((one) => one.name === name).map(({ file, line }) => `${file}:${line}`)
    return [`  ${name}`, [...new Set(places)].join(' ')]
  }))
}

function variablesOf({ variables }: Report, full: boolean): readonly string[] {
  return variableUses.flatMap((use) => {
    const own = variables.filter((one) => one.use === use)
    const others = new Set(use === 'named' ? variables.filter((one) => one.use !== use).map(({ name }) => name) : [])
    const names = namesOf(own).filter((name) => !others.has(name))
    if (names.length === 0) return []
    const isCounted = !full && (use === 'for agents' || use === 'refused')
    const title = `  ${meanings[use]}: ${names.length}${isCounted ? ' (--full)' : ''}`
    return isCounted ? [title] : [title, full ? placesOf(own) : wrapped(names, '    ')]
  })
}

const meanings = {
  read: 'read by the server',
  'passed on': 'passed on to every program, beside LC_* and those of --pass-env',
  'for agents': 'passed on to agents, those of a provider to its own agents',
  set: 'set for a program',
  refused: 'refused as the name of a secret, beside names with certain words',
  named: 'named for another purpose',
} as const satisfies Record<(typeof variableUses)[number], string>

function wrapped(words: readonly string[], margin = '  '): string {
  const lines = [margin]
  for (const word of words) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length > 118 && last !== margin) lines.push(`${margin}${word}`)
    else lines[lines.length - 1] = `${last}${last === margin ? '' : ' '}${word}`
  }
  return lines.join('\n')
}

function patternTable({ patterns, madePatterns }: Report, full: boolean): string {
  const shown = full ? patterns : patterns.slice(0, shownPatterns)
  const made = madePatterns.map(({ file, line, name, why }) => {
    return [`  ${file}:${line}`, ...(full ? [name] : []), why ?? 'NO REASON']
  })
  return [
    formatRows([['  ms', 'characters', 'growth', 'place', 'expression'], ...shown.map((one) => patternRow(one, full))]),
    ...(full ? [] : [`  and ${patterns.length - shown.length} faster ones (--full)`]),
    ...(made.length === 0 ? [] : ['  Not evaluated and not measured, with the reason:', formatRows(made)]),
  ].join('\n')
}

function patternRow({ places, text, time, why }: TimedPattern, full: boolean): readonly string[] {
  const [place = '', ...more] = places
  const chars = `${time.chars}${why === undefined || !full ? '' : ` (${why})`}`
  const growth = time.isSuperLinear ? 'faster' : 'linear'
  const shown = full || more.length === 0 ? places.join(' ') : `${place} and ${more.length} more`
  return [`  ${time.ms.toFixed(1)}`, chars, growth, shown, full || text.length <= 40 ? text : `${text.slice(0, 37)}...`]
}

function swallowedOf({ swallowed }: Report, full: boolean): string {
  const missing = unexplained(swallowed)
  const shown = full ? swallowed : missing
  const rows = shown.map(({ file, line, code, reason }) => `  ${file}:${line}  ${code}  // ${reason ?? 'NO REASON'}`)
  const without = missing.length === 0 ? 'none' : `${missing.length}`
  return [`  ${swallowed.length} in all; without a reason beside it: ${without}`, ...rows].join('\n')
}

function castsOf({ casts: { byHand, generated } }: Report, full: boolean): string {
  const places = (found: readonly Found[]): string => found.map(({ file, line }) => `${file}:${line}`).join(' ')
  return [
    byHand.length === 0 ? '  by hand: none' : `  by hand: ${byHand.length} ${places(byHand)}`,
    `  generated: ${generated.length}, one where a validator of an object returns`,
    ...(full ? [wrapped(generated.map(({ file, line }) => `${file}:${line}`), '    ')] : []),
  ].join('\n')
}

function changed({ lines, added, removed }: Changes, full: boolean): string {
  const lists = ([title, all]: readonly [string, Changes['added']]): string[] =>
    Object.entries(all).filter(([, list]) => list.length > 0).flatMap(([name, list]) => {
      const shown = full ? list : list.slice(0, shownChanges)
      const more = list.length - shown.length
      const rest = more > 0 ? [`    and ${more} more (--full)`] : []
      return [`  ${title} ${name}: ${list.length}`, ...shown.map((one) => `    ${one}`), ...rest]
    })
  const units = lines.map(({ unit, before, now }) => `${unit} ${before} to ${now};`)
  return [
    units.length === 0 ? '  No part has another number of lines.' : wrapped(['Lines:', ...units]),
    ...lists(['New', added]), ...lists(['Gone', removed]),
  ].join('\n')
}
