/**
 * `npm run real-agents`: drives eight real agents through the built server, scenario by scenario.
 *
 * The agents are the published packages, installed outside the tree; their models are the stand-ins of test/fixtures,
 * on loopback, which stream at a real pace, so the run needs no account and no network once the packages are there.
 * Prints a table agent x scenario x pace and ends with 1 when a check fails that no known limit of the agent explains
 * (scripts/real/limits). Words name agents (`codex`), `--only TEXT` a part of scenarios' names and `--pace N` one of
 * the paces (both as often as wanted); with `--events` the history of each scenario is printed too. `--results FOLDER`
 * keeps the results of each agent there and makes FOLDER/RESULTS.md of all that it has, and with `--missing` only the
 * scenarios run that have not passed there with this build; scripts/real/RESULTS.md is the last page that was kept.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandLine, refuse } from './command-line.ts'
import { realAgents, type RealAgent } from './real/agents.ts'
import type { Check } from './real/checks.ts'
import { isKnown, limits, limitsOf, type Limit } from './real/limits.ts'
import { memberAt } from './real/member.ts'
import {
  buildDigest, keepCell, passedCells, readResults, type AgentResults, type Cell, type Subject,
} from './real/results.ts'
import { printPage, printTable, type Row } from './real/results-table.ts'
import { playScenario, type SceneReport } from './real/scene.ts'
import { scenarios, usualPaces } from './real/scenarios.ts'
import { openStage, type Stage } from './real/stage.ts'

const { words, flags } = commandLine({
  command: 'npm run real-agents',
  help: 'Drives published agents through the built server, scenario by scenario, with stand-ins for their models.',
  words: { name: 'AGENT', help: 'Only these agents', choices: realAgents.map(({ provider }) => provider) },
  flags: {
    only: { value: 'TEXT', isRepeated: true, help: 'Only scenarios with the text in their name' },
    pace: { value: 'NUMBER', isRepeated: true, help: 'Only this pace of the model, in tokens per second' },
    results: { value: 'FOLDER', help: 'Keep the results of each agent there, and write FOLDER/RESULTS.md' },
    missing: { help: 'With --results: run only what has not passed there with this build' },
    events: { help: 'Print the history of each scenario' },
  },
})
const agents = realAgents.filter(({ provider }) => words.length === 0 || words.includes(provider))
const paces = flags.pace?.map(Number)
const results = flags.results?.at(-1)
const rounds = scenarios.flatMap((scenario) => (scenario.paces ?? usualPaces).map((pace) => ({ scenario, pace })))
const wanted = rounds.filter(({ scenario, pace }) => {
  return (flags.only ?? ['']).some((text) => scenario.name.includes(text)) && paces?.includes(pace) !== false
})
if (wanted.length === 0) refuse('No scenario has this name and this pace')
const build = await buildDigest()
const done: AgentResults[] = []
/** They end the run without leaving a server or a folder. */
const signals = ['SIGINT', 'SIGTERM'] as const

for (const agent of agents) done.push(await tryAgent(agent))
print(`\n${printTable(done, rowsOf(wanted)).join('\n')}`)
if (results !== undefined) {
  await writeFile(join(results, 'RESULTS.md'), printPage(await inOrder(results), rowsOf(rounds), limits))
}
const all = done.flatMap(({ cells }) => cells)
process.exitCode = all.some(({ passed }) => passed > 0) && all.every(({ failed }) => failed === 0) ? 0 : 1

async function tryAgent(agent: RealAgent): Promise<AgentResults> {
  const subject: Subject = { agent: agent.provider, package: `${agent.package.name} ${agent.package.version}`, build }
  const passed = flags.missing !== undefined && results !== undefined ? await passedCells(results, subject) : []
  const cells: Cell[] = []
  const stage = await openStage(agent)
  const stop = (): void => void stage.close().finally(() => process.exit(1))
  for (const signal of signals) process.once(signal, stop)
  try {
    for (const round of wanted) {
      if (
        round.scenario.isFor?.(agent) === false ||
      passed.some((one) => one.scenario === round.scenario.name && one.pace === round.pace)
      ) {
        continue
      }
      const cell = await tryRound(stage, round)
      cells.push(cell)
      if (results !== undefined) await keep(results, subject, cell)
    }
    for (const line of stage.server().output().split('\n')) {
      if (/"level":"(?:warn|error)"/.test(line)) print(`  ${line}`)
    }
  } finally {
    for (const signal of signals) process.off(signal, stop)
    await stage.close()
  }
  return { ...subject, date: new Date().toISOString(), cells }
}

async function tryRound(stage: Stage, { scenario, pace }: typeof rounds[number]): Promise<Cell> {
  const start = Date.now()
  const report = await playScenario(scenario, pace, stage)
  const found = limitsOf(stage.agent.provider, scenario.name)
  const failed = report.checks.filter(({ ok }) => !ok)
  const known = failed.filter(({ name }) => isKnown(name, found))
  print(`${stage.agent.provider}: ${scenario.name}, ${pace}/s (${((Date.now() - start) / 1000).toFixed(1)} s)`)
  printReport(report, found, known)
  return {
    scenario: scenario.name, pace, passed: report.checks.length - failed.length, known: known.length,
    failed: failed.length - known.length,
  }
}

function printReport({ checks, events }: SceneReport, found: readonly Limit[], known: readonly Check[]): void {
  for (const { limit, evidence } of found) print(`  limit: ${limit} (${evidence})`)
  for (const one of checks) {
    if (!one.ok) {
      print(`  ${known.includes(one) ? 'known' : 'FAIL'} ${one.name}\n       seen: ${one.seen.slice(0, 2000)}`)
    }
  }
  if (flags.events !== undefined) for (const event of events) print(`  ${describe(event)}`)
}

async function keep(folder: string, subject: Subject, cell: Cell): Promise<void> {
  await mkdir(folder, { recursive: true })
  await keepCell(folder, subject, cell)
}

/** What the folder has, in the order of the agents. */
async function inOrder(folder: string): Promise<AgentResults[]> {
  const kept = await readResults(folder)
  return realAgents.flatMap(({ provider }) => kept.find(({ agent }) => agent === provider) ?? [])
}

function rowsOf(some: typeof rounds): Row[] {
  return some.map(({ scenario: { name, isFor }, pace }) => {
    return {
      scenario: name,
      pace,
      agents: realAgents.filter((agent) => isFor?.(agent) !== false).map(({ provider }) => provider),
    }
  })
}

/** One line for an event, for the reader of a failure. */
function describe(event: unknown): string {
  const members = [
    'kind', 'source', 'key', 'value', 'tool_name', 'tool_call_id', 'summary', 'code', 'detail', 'error', 'action',
    'observation', 'llm_message',
  ]
  const shown = members.flatMap((name) => memberAt(event, name) ?? [])
  return shown.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' | ').slice(0, 600)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
