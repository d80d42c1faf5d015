/**
 * The tables of figures in the documents, made from the results: a short table for README.md, and whole tables for the
 * README.md of this folder.
 */
import { isOfPeer, judgedOf, type Row, type Stall } from './gate.ts'
import type { Result } from './results.ts'
import { isForUsers, markdown, printFigure, printMarkdown, printPeer, printTarget, verdictOf } from './table.ts'

/** Texts of the rows in README.md, and the rows that they are: ten that a user understands. */
const short: Readonly<Record<string, string>> = {
  'start until the first answer': 'Start, until the first answer',
  'memory after the start': 'Memory after the start',
  'create a conversation': 'Create a conversation',
  'first piece of the answer after a message': 'First piece of an answer, without the time of the model',
  'a turn of the built-in agent': 'A turn of the built-in agent, with a model that answers at once',
  '16 turns at once': '16 such turns at once',
  'open a conversation of 100,000 events at its end': 'Open a conversation of 100,000 events',
  'search 100,000 events for a text': 'Search 100,000 events for a text',
  'delta of 200 agents at once: slowest hundredth': '200 agents stream at once: the slowest hundredth of pieces',
  'idle with 1,000 conversations and sockets: share of a processor': 'Idle, 1,000 open conversations, 1,000 sockets',
}

const unmeasured = 'Nothing of this is measured yet.'

/** README.md: rows that are not measured yet are left out. */
export function shortTable(results: readonly Result[]): string {
  const rows = Object.entries(short).flatMap(([what, title]) => {
    const own = results.find((row) => row.what === what && !isOfPeer(row))
    if (own?.figure === undefined) return []
    const { figure } = own
    const target = figure.target === undefined ? '' : `${printTarget(figure.target)} ${figure.unit}`
    return [[
      title, printFigure(figure.ours, figure.unit), bestPeer(own, results), printFigure(figure.least, figure.unit),
      target, verdictOf(own),
    ]]
  })
  if (rows.length === 0) return unmeasured
  return [
    ...markdown(['', 'This server', 'Best other', 'Bare program', 'Target', ''], rows),
    ...circumstancesOf(results.filter(({ what }) => Object.hasOwn(short, what))),
  ].join('\n')
}

/** Prints the line behind a table that tells when and how its rows were measured, with the rows of peers. */
function circumstancesOf(results: readonly Result[]): string[] {
  const of = (values: readonly string[]): string => [...new Set(values)].sort().join(', ')
  const peers = of(results.flatMap((row) => (isOfPeer(row) ? [row.peer ?? ''] : [])))
  const loads = results.map(({ measured: { load } }) => load)
  const isRough = results.some(({ measured }) => measured.isRough)
  return [
    '',
    `Measured ${isRough ? 'roughly ' : ''}on ${of(results.map(({ measured: { date } }) => date))} with Node ` +
      `${of(results.map(({ measured: { node } }) => node))}.`,
    `Just before a measurement, the rest of the machine used up to ${Math.max(...loads).toFixed(1)} processors.`,
    `Other programs: ${peers === '' ? 'none' : peers}.`,
  ]
}

/** The peer with the best ratio. Whether low or high is good the target says. */
function bestPeer(own: Row, results: readonly Row[]): string {
  const { target } = judgedOf(own)
  const sign = target !== 'none' && 'atLeast' in target ? -1 : 1
  const worth = ({ figure, ratio }: Row): number => sign * (figure?.ours.median ?? ratio.median)
  const [best] = results.filter((row) => isOfPeer(row) && row.what === own.what).sort((a, b) => worth(a) - worth(b))
  return best === undefined ? '' : printPeer(best)
}

/** The rows that users notice, with the reason for each target, and the longest stall of them all. */
export function usersTable(results: readonly Result[]): string {
  const rows = results.filter((row) => isForUsers(ownOf(row, results)))
  if (rows.every(isOfPeer)) return unmeasured
  const why = { title: 'why this target', cell: ({ figure }: Result) => figure?.why ?? '' }
  return [...printMarkdown(rows, [why, measured]), '', stallSentence(rows)].join('\n')
}

/** All other rows: ratios to a limit. */
export function limitsTable(results: readonly Result[]): string {
  const rows = results.filter((row) => !isForUsers(ownOf(row, results)))
  return rows.every(isOfPeer) ? unmeasured : printMarkdown(rows, [measured]).join('\n')
}

/** A row of a peer belongs to the table of ours. */
function ownOf(row: Result, results: readonly Result[]): Row {
  if (!isOfPeer(row)) return row
  return results.find((other) => !isOfPeer(other) && other.what === row.what) ?? row
}

const measured = {
  title: 'measured',
  cell: ({ measured: { date, node, load, isRough } }: Result) =>
    `${date}, Node ${node}, load ${load.toFixed(1)}${isRough ? ', rough' : ''}`,
}

export const stallLimitMs = 100

/**
 * The longest time that the event loop of the server stood still in any of these rows. A stall over the limit that the
 * server has surely made is told before a longer one that others of the machine may have made.
 */
export function stallSentence(results: readonly Row[]): string {
  const isMissed = ({ stallMs, busyMs }: Stall): boolean => Math.min(stallMs, busyMs) > stallLimitMs
  const [worst] = results.flatMap(({ what, stall }) => (stall === undefined ? [] : [{ what, stall }]))
    .sort(({ stall: a }, { stall: b }) => Number(isMissed(b)) - Number(isMissed(a)) || b.stallMs - a.stallMs)
  if (worst === undefined) return 'No row has watched the event loop of the server.'
  const { stallMs, busyMs } = worst.stall
  const judged = isMissed(worst.stall) ? 'missed' : stallMs <= stallLimitMs ? 'met' : 'too noisy to tell'
  return `Worst stall of the event loop in these rows: ${stallMs.toFixed(0)} ms, of which at most ` +
    `${busyMs.toFixed(0)} ms on a processor\n(${worst.what}; target: ${stallLimitMs} ms; ${judged}).`
}
