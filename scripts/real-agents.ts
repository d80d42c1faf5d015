/**
 * `npm run real-agents`: drives the three real agents through the built server, scenario by scenario.
 *
 * The agents are the published packages, installed outside the tree; their models are the stand-ins of test/fixtures, on
 * loopback, so the run needs no account and no network once the packages are there. Prints a table agent x scenario and
 * ends with 1 when a check fails. Words name agents (`codex`), `--only TEXT` a part of a scenario's name, and with
 * `--events` the history of each scenario is printed too.
 */
import { parseArgs } from 'node:util'
import { realAgents, type RealAgent } from './real/agents.ts'
import type { Check } from './real/checks.ts'
import { memberAt } from './real/member.ts'
import { playScenario } from './real/scene.ts'
import { scenarios } from './real/scenarios.ts'
import { openStage } from './real/stage.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, events: { type: 'boolean', default: false } },
})
const agents = realAgents.filter(({ provider }) => positionals.length === 0 || positionals.includes(provider))
const wanted = scenarios.filter(({ name }) => name.includes(values.only))
const results = new Map<string, readonly Check[]>()

for (const agent of agents) await tryAgent(agent)
const all = [...results.values()].flat()
printTable()
process.exitCode = all.length > 0 && all.every(({ ok }) => ok) ? 0 : 1

async function tryAgent(agent: RealAgent): Promise<void> {
  const stage = await openStage(agent)
  try {
    for (const scenario of wanted) {
      const start = Date.now()
      const { checks, events } = await playScenario(scenario, stage)
      results.set(`${agent.provider} ${scenario.name}`, checks)
      print(`${agent.provider}: ${scenario.name} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
      for (const { name, ok, seen } of checks) if (!ok) print(`  FAIL ${name}\n       seen: ${seen.slice(0, 2000)}`)
      if (values.events) for (const event of events) print(`  ${describe(event)}`)
    }
    for (const line of stage.server().output().split('\n')) if (/"level":"(?:warn|error)"/.test(line)) print(`  ${line}`)
  } finally {
    await stage.close()
  }
}

function printTable(): void {
  const widths = [Math.max(...wanted.map(({ name }) => name.length)), ...agents.map(() => 12)]
  const row = (cells: readonly string[]): string => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd()
  print(`\n${row(['', ...agents.map(({ provider }) => provider)])}`)
  for (const { name } of wanted) print(row([name, ...agents.map(({ provider }) => cellOf(results.get(`${provider} ${name}`)))]))
  print(`\n${all.filter(({ ok }) => ok).length} checks passed, ${all.filter(({ ok }) => !ok).length} failed`)
}

function cellOf(checks: readonly Check[] = []): string {
  const good = checks.filter(({ ok }) => ok).length
  return good === checks.length ? `ok ${good}` : `FAIL ${good}/${checks.length}`
}

/** One line for an event, for the reader of a failure. */
function describe(event: unknown): string {
  const members = ['kind', 'source', 'key', 'value', 'tool_name', 'tool_call_id', 'summary', 'code', 'detail', 'error', 'action', 'observation', 'llm_message']
  const shown = members.flatMap((name) => memberAt(event, name) ?? [])
  return shown.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(' | ').slice(0, 600)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
