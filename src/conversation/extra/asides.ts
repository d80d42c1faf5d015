/**
 * Requests to an agent outside its turns: questions of clients, summaries of the history, titles, verdicts on goals.
 *
 * The cost of each request counts towards the conversation's budget. No request is made when the budget is spent.
 */
import { AppError } from '../../base/errors.ts'
import type { GoalVerdict } from '../../schema/generated/conversations.ts'
import type { AgentRecords } from '../run/agent-records.ts'
import type { AgentSeat } from '../run/agent-seat.ts'
import type { TitleAnswer, TitleByProfile, UsageReport } from '../agent/agent.ts'
import type { Gate } from '../run/gate.ts'
import type { Journal } from '../log/journal.ts'
import type { Runner } from '../run/runner.ts'

export interface AsidesOptions {
  readonly journal: Journal
  readonly gate: Gate
  readonly seat: AgentSeat
  readonly runner: Runner
  readonly records: AgentRecords
  readonly titleByProfile: TitleByProfile
}

export class Asides {
  readonly #options: AsidesOptions
  #isAsking = false
  #isCondensing = false

  constructor(options: AsidesOptions) {
    this.#options = options
  }

  /**
   * Asks the agent a question of a client, outside the agent's turns. Records only the cost.
   * @throws AppError `conflict` while another question is pending or the budget is spent; the errors of `Gate.write`;
   * the agent's errors
   */
  ask(question: string, signal: AbortSignal): Promise<string> {
    return this.#options.gate.write(() => this.#ask(question, signal))
  }

  async #ask(question: string, signal: AbortSignal): Promise<string> {
    const { seat, records } = this.#options
    const refusal = this.#isAsking ? 'another question is open' : records.budgetSpent()
    if (refusal !== undefined) throw new AppError('conflict', `Cannot ask the agent: ${refusal}`)
    this.#isAsking = true
    try {
      const { text, usage } = await seat.agent().askAside(question, signal)
      this.#count(usage)
      return text
    } finally {
      this.#isAsking = false
    }
  }

  /**
   * Asks the agent to replace older events by a summary (`Agent.condense`), between two runs.
   * @throws AppError `bad_request` when the agent cannot condense; `conflict` during a run or a condensation, or when
   * the budget is spent; the errors of `Gate.write`; the agent's errors.
   */
  condense(signal: AbortSignal): Promise<void> {
    return this.#options.gate.write(() => this.#condense(signal))
  }

  async #condense(signal: AbortSignal): Promise<void> {
    const { journal, seat, runner } = this.#options
    const condenser = seat.agent()
    if (condenser.condense === undefined) {
      const reason = 'the conversation is driven by an external agent, which keeps its own'
      throw new AppError('bad_request', `Cannot condense the history: ${reason}`)
    }
    // A run whose end is published may still be writing its state cache. A turn is not awaited: it may take long.
    if (journal.status !== 'running' && !runner.isInTurn) await runner.settled()
    const refusal = this.#busy()
    if (refusal !== undefined) throw new AppError('conflict', `Cannot condense the history: ${refusal}`)
    this.#isCondensing = true
    try {
      await condenser.condense({
        signal,
        record: (draft) => void journal.record(draft),
        usage: (report) => this.#count(report),
      })
    } finally {
      this.#isCondensing = false
    }
  }

  /**
   * Asks the model of `title_llm_profile`, or else the agent's model, for a title. Returns undefined, or a promise of
   * undefined, if no model is asked, because there is none or the budget is spent.
   */
  makeTitle(text: string, signal: AbortSignal): Promise<TitleAnswer | undefined> | undefined {
    const { journal, titleByProfile, records } = this.#options
    if (records.budgetSpent() !== undefined) return undefined
    const { title_llm_profile: profile } = journal.state
    if (profile === null) return this.#titleByAgent(text, signal)
    return titleByProfile({ profile, text, signal }).then((answer) => {
      return answer === undefined ? this.#titleByAgent(text, signal) : this.#counted(answer)
    })
  }

  /** True when the agent can judge a goal. @throws AppError when the agent cannot be created */
  hasJudge(): boolean {
    return this.#options.seat.messageReader()?.judgeGoal !== undefined
  }

  /**
   * Asks the agent's model to judge a goal.
   * @throws AppError `conflict` when the budget is spent, `bad_request` if the agent cannot judge; the agent's errors
   */
  async judgeGoal(objective: string, signal: AbortSignal): Promise<GoalVerdict> {
    const { seat, records } = this.#options
    const spent = records.budgetSpent()
    if (spent !== undefined) throw new AppError('conflict', `Cannot judge the goal: ${spent}`)
    const judgement = await seat.messageReader()?.judgeGoal?.(objective, signal)
    if (judgement === undefined) throw new AppError('bad_request', 'no_judge_llm')
    this.#count(judgement.usage)
    return judgement.verdict
  }

  /** Asks the agent's model for a title. Returns undefined for an agent that makes no titles. */
  #titleByAgent(text: string, signal: AbortSignal): Promise<TitleAnswer> | undefined {
    return this.#options.seat.messageReader()?.makeTitle?.(text, signal)?.then((answer) => this.#counted(answer))
  }

  #counted(answer: TitleAnswer): TitleAnswer {
    if ('usage' in answer) this.#count(answer.usage)
    return answer
  }

  #busy(): string | undefined {
    const { runner, records } = this.#options
    if (runner.isRunning) return 'the conversation is running'
    return this.#isCondensing ? 'that is being done already' : records.budgetSpent()
  }

  #count(report: UsageReport): void {
    const { journal, records, runner } = this.#options
    journal.attempt(() => {
      records.count(report)
      // During a turn, the turn's end records `stats`, so that no `stats` event comes between the deltas of an answer.
      if (!runner.isInTurn) records.storeStats()
    })
  }
}
