/**
 * `npm run real-agents`: drives eight real agents through the built server, scenario by scenario.
 *
 * The agents are the published packages, installed outside the tree; their models are the stand-ins of test/fixtures, on
 * loopback, which stream at a real pace, so the run needs no account and no network once the packages are there. Prints a
 * table agent x scenario and ends with 1 when a check fails that no known limit of the agent explains (scripts/real/limits).
 * Words name agents (`codex`), `--only TEXT` a part of scenarios' names (as often as wanted), `--pace N` another number of tokens per second for
 * all, and with `--events` the history of each scenario is printed too.
 */
import { parseArgs } from 'node:util'
import { realAgents, type RealAgent } from './real/agents.ts'
import type { Check } from './real/checks.ts'
import { isKnown, limitsOf } from './real/limits.ts'
import { memberAt } from './real/member.ts'
import { playScenario } from './real/scene.ts'
import { scenarios } from './real/scenarios.ts'
import { openStage } from './real/stage.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true, default: [''] }, events: { type: 'boolean', default: false }, pace: { type: 'string' } },
})
const agents = realAgents.filter(({ provider }) => positionals.length === 0 || positionals.includes(provider))
const wanted = scenarios.filter(({ name }) => values.only.some((text) => name.includes(text))).flatMap((scenario) => {
  const paces = values.pace === undefined ? scenario.paces ?? [400] : [Number(values.pace)]
  return paces.map((pace) => ({ ...scenario, pace, title: paces.length > 1 ? `${scenario.name}, ${pace}/s` : scenario.name }))
})
interface Result extends Check {
  /** It failed as it is known to. */
  readonly known: boolean
}

const results = new Map<string, readonly Result[]>()

for (const agent of agents) await tryAgent(agent)
const all = [...results.values()].flat()
printTable()
process.exitCode = all.length > 0 && all.every(({ ok, known }) => ok || known) ? 0 : 1

async function tryAgent(agent: RealAgent): Promise<void> {
  const stage = await openStage(agent)
  try {
    for (const scenario of wanted) {
      const start = Date.now()
      if (scenario.isFor?.(agent) === false) continue
      const { checks, events } = await playScenario(scenario, scenario.pace, stage)
      const limits = limitsOf(agent.provider, scenario.name)
      const judged = checks.map((one) => ({ ...one, known: !one.ok && isKnown(one.name, limits) }))
      results.set(`${agent.provider} ${scenario.title}`, judged)
      print(`${agent.provider}: ${scenario.title} (${((Date.now() - start) / 1000).toFixed(1)} s)`)
      for (const { limit, evidence } of limits) print(`  limit: ${limit} (${evidence})`)
      for (const { name, ok, known, seen } of judged) if (!ok) print(`  ${known ? 'known' : 'FAIL'} ${name}\n       seen: ${seen.slice(0, 2000)}`)
      if (values.events) for (const event of events) print(`  ${describe(event)}`)
    }
    for (const line of stage.server().output().split('\n')) if (/"level":"(?:warn|error)"/.test(line)) print(`  ${line}`)
  } finally {
    await stage.close()
  }
}

function printTable(): void {
  const widths = [Math.max(...wanted.map(({ title }) => title.length)), ...agents.map(() => 12)]
  const row = (cells: readonly string[]): string => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ').trimEnd()
  print(`\n${row(['', ...agents.map(({ provider }) => provider)])}`)
  for (const { title } of wanted) print(row([title, ...agents.map(({ provider }) => cellOf(results.get(`${provider} ${title}`)))]))
  const failed = all.filter(({ ok, known }) => !ok && !known).length
  print(`\n${all.filter(({ ok }) => ok).length} checks passed, ${failed} failed, ${all.filter(({ known }) => known).length} fail as is known`)
}

function cellOf(checks: readonly Result[] | undefined): string {
  if (checks === undefined) return '-'
  const good = checks.filter(({ ok }) => ok).length
  if (good < checks.length && checks.every(({ ok, known }) => ok || known)) return `limit ${good}/${checks.length}`
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
