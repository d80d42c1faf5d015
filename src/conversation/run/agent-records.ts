/**
 * Holds the newest values that a conversation stores for its agent, durable or not.
 *
 * `journal.state` has only durable values.
 */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../base/json.ts'
import type { Allowance } from '../agent/allowance.ts'
import { keptKeys, type KeptKey } from '../agent/host.ts'
import type { UsageReport } from '../agent/agent.ts'
import { shownAgent } from '../log/info.ts'
import type { Journal } from '../log/journal.ts'
import { addFigures, hasFigures } from '../log/usage-figures.ts'
import { UsageLedger } from '../log/usage.ts'
import type { Work } from '../log/work.ts'

export class AgentRecords {
  /** The steps and the cost that a sub-agent may use while it works for its parent; undefined at any other time. */
  allowance: Allowance | undefined
  readonly #journal: Journal
  readonly #work: Work | undefined
  readonly #ledger: UsageLedger
  /** True when usage was counted since `stats` was last recorded. */
  #hasNewStats = false
  #settings: JsonObject
  #agentState: JsonObject
  #invokedSkills: readonly string[]
  #kept: Readonly<Partial<Record<KeptKey, JsonObject>>>

  constructor(journal: Journal, work?: Work) {
    const { agent, agent_state: agentState, invoked_skills: invokedSkills, kept, stats } = journal.state
    this.#journal = journal
    this.#work = work
    this.#ledger = new UsageLedger(stats)
    this.#settings = agent
    this.#agentState = agentState
    this.#invokedSkills = invokedSkills
    this.#kept = kept
  }

  /** The agent's settings with encrypted secrets. This is the same object until the settings change. */
  get settings(): JsonObject {
    return this.#settings
  }

  /** Replaces and records the agent's settings. If `change` returns its argument, nothing is done. */
  changeSettings(change: (settings: JsonObject) => JsonObject): void {
    const next = change(this.#settings)
    if (next === this.#settings) return
    this.#journal.keep(['agent', next])
    this.#journal.update('agent', shownAgent(next, true))
    this.#settings = next
  }

  kept(key: KeptKey): JsonObject | undefined {
    return this.#kept[key]
  }

  keep(key: KeptKey, value: JsonObject): void {
    this.#kept = { ...this.#kept, [key]: value }
    this.#journal.attempt(() => this.#journal.keep(['kept', { key, value }]))
  }

  /** Sets the given members of `agent_state`, and records it if a member changes. */
  publish(changes: JsonObject): void {
    const value = { ...this.#agentState, ...changes }
    if (isDeepStrictEqual(value, this.#agentState)) return
    this.#agentState = value
    this.#journal.attempt(() => this.#journal.update('agent_state', value))
  }

  skillInvoked(name: string): void {
    if (this.#invokedSkills.includes(name)) return
    this.#invokedSkills = [...this.#invokedSkills, name]
    this.#journal.attempt(() => this.#journal.update('invoked_skills', [...this.#invokedSkills]))
  }

  /** The newest `stats` in wire form, durable or not. */
  get stats(): JsonObject {
    return this.#ledger.stats(this.#journal.state.max_budget_per_task)
  }

  /**
   * Adds a usage report to `stats` and to `agent_state.usage`, and stores the report in the log. `storeStats` records
   * the sum for clients. Until the first report with a figure, reports without figures are neither added nor stored.
   * @throws AppError when the log accepts no line
   */
  count(report: UsageReport): void {
    const { usage } = this.#agentState
    const isKnown = hasFigures(report)
    this.allowance?.usage(report)
    this.#work?.used(report)
    if (!isKnown && usage === undefined) return
    if (isKnown) this.#ledger.add(report)
    this.#hasNewStats ||= isKnown
    this.#agentState = { ...this.#agentState, usage: addFigures(usage, report) }
    this.#journal.keep(['spent', report])
  }

  /** Records `stats`, if usage was counted since the last time. @throws AppError when the log accepts no line */
  storeStats(): void {
    if (!this.#hasNewStats) return
    this.#journal.update('stats', this.stats)
    this.#hasNewStats = false
  }

  /**
   * Called after a failed log was reopened: its newest lines are lost. Undoes changes of invoked skills and of the
   * settings, which the client saw fail. Records the lost values of `kept`, `agent_state` and `stats` again.
   * @throws AppError when the log accepts no line
   */
  restore(): void {
    const { agent, agent_state: agentState, invoked_skills: invokedSkills, kept, stats } = this.#journal.state
    this.#settings = agent
    this.#invokedSkills = invokedSkills
    for (const key of keptKeys) {
      const value = this.#kept[key]
      if (value !== undefined && value !== kept[key]) this.#journal.keep(['kept', { key, value }])
    }
    if (!isDeepStrictEqual(this.#agentState, agentState)) this.#journal.update('agent_state', this.#agentState)
    this.#hasNewStats ||= !isDeepStrictEqual(this.stats, stats)
    this.storeStats()
  }

  /** Returns why this conversation or its parent may spend no more, if so. An unknown cost counts as 0. */
  budgetSpent(): string | undefined {
    const { max_budget_per_task: budget } = this.#journal.state
    const { cost } = this.#ledger
    if (budget === null || cost < budget) return this.allowance?.budgetSpent()
    return `the conversation has cost $${cost.toFixed(4)}, its budget is $${budget}`
  }
}
