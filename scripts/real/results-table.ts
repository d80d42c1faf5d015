/**
 * The table agent x scenario x pace, for the terminal and as the page RESULTS.md. Pure.
 *
 * A cell is `ok 20` (all 20 checks passed), `limit 18/20` (the other two fail as a known limit of the agent says) or
 * `FAIL 18/20`; `-` where the agent has nothing to try, `not run` where it was not tried.
 */
import type { Limit } from './limits.ts'
import type { AgentResults, Cell } from './results.ts'

export interface Row {
  readonly scenario: string
  readonly pace: number
  /** The agents that can run the scenario. */
  readonly agents: readonly string[]
}

/** Lines for the terminal, with every column as wide as its widest cell. */
export function printTable(results: readonly AgentResults[], rows: readonly Row[]): string[] {
  const table = cellsOf(results, rows)
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  return [
    ...table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()),
    '',
    sumOf(results),
  ]
}

/** Prints the page in Markdown: the agents that were driven, the table, and the limits that the table names. */
export function printPage(results: readonly AgentResults[], rows: readonly Row[], limits: readonly Limit[]): string {
  const driven = results.map(({ agent, package: name, date, build, cells }) => {
    return [
      agent, name, date.replace('T', ' '), build,
      ...(['passed', 'known', 'failed'] as const).map((member) => String(sum(cells, member))),
    ]
  })
  const named = limits.map(({ agent, scenarios, checks, limit, evidence }) => {
    return [
      agent, scenarios.join(', '), limit,
      checks.length === 0 ? 'none' : checks.map((check) => `"${check} ..."`).join(', '), evidence,
    ]
  })
  return [
    '# Eight agents, driven through every scenario',
    '',
    'Made by `npm run real-agents -- --results FOLDER`; not edited by hand. The agents are the published packages, ' +
      'their',
    'models stand-ins on loopback that stream 20, 80 or 400 tokens a second in pieces that cut words and escapes. A ' +
      'cell is',
    '`ok` with the number of its checks, `limit` where some fail as a known limit of the agent says, or `FAIL`. `-`: ' +
      'the',
    'agent has nothing to try there. The scenarios are in `scenarios.ts`, the limits in `limits.ts`.',
    '',
    `${sumOf(results)}. ${cellsRun(results, rows)}`,
    '',
    ...markdown([['agent', 'package', 'date (UTC)', 'build', 'passed', 'known limits', 'failed'], ...driven]),
    '',
    'The build is the beginning of the SHA-256 of the joined files `dist/agent-server*.js`.',
    '',
    '## Agent by scenario',
    '',
    ...markdown(cellsOf(results, rows)),
    '',
    '## Known limits of the agents',
    '',
    'A limit without a check that fails is told for the reader and explains no failure.',
    '',
    ...markdown([['agent', 'scenarios', 'limit', 'checks that fail', 'evidence'], ...named]),
    '',
  ].join('\n')
}

function cellsOf(results: readonly AgentResults[], rows: readonly Row[]): string[][] {
  const titles = ['scenario', 'tokens/s', ...results.map(({ agent }) => agent)]
  return [titles, ...rows.map((row) => [row.scenario, String(row.pace), ...results.map((one) => cellText(one, row))])]
}

function cellText({ agent, cells }: AgentResults, { scenario, pace, agents }: Row): string {
  if (!agents.includes(agent)) return '-'
  const cell = cells.find((one) => one.scenario === scenario && one.pace === pace)
  if (cell === undefined) return 'not run'
  const { passed, known, failed } = cell
  if (passed + known + failed === 0) return 'FAIL 0'
  if (known + failed === 0) return `ok ${passed}`
  return `${failed === 0 ? 'limit' : 'FAIL'} ${passed}/${passed + known + failed}`
}

/** How much of the table was run, and whether with one build. */
function cellsRun(results: readonly AgentResults[], rows: readonly Row[]): string {
  const wanted = rows.reduce((total, { agents }) => total + agents.length, 0)
  const run = results.reduce((total, { cells }) => total + cells.length, 0)
  const builds = new Set(results.map(({ build }) => build)).size
  return `${run} of ${wanted} cells were run, with ${builds} ${builds === 1 ? 'build' : 'builds'}.`
}

function sumOf(results: readonly AgentResults[]): string {
  const cells = results.flatMap((one) => one.cells)
  return `${sum(cells, 'passed')} checks passed, ${sum(cells, 'failed')} failed, ${sum(cells, 'known')} fail as is ` +
    'known'
}

function sum(cells: readonly Cell[], member: 'passed' | 'known' | 'failed'): number {
  return cells.reduce((total, cell) => total + cell[member], 0)
}

function markdown([titles = [], ...rows]: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)]
}
