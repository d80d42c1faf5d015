/**
 * Requests to an agent outside its turns: a client's question beside the work, a client's request to condense the
 * history, and the conversation's own requests for a title and for a verdict on a goal.
 *
 * All are within the conversation's budget, and their cost is counted. None changes the status.
 */
import { AppError } from '../base/errors.ts'
import type { GoalVerdict } from '../schema/generated/conversations.ts'
import type { EventDraft } from '../schema/generated/events.ts'
import type { Agent, TitleAnswer, UsageReport } from './agent.ts'
import type { ConversationState } from './state.ts'

export interface AgentRequestsOptions {
  /** Returns the current agent. */
  readonly agent: () => Agent
  readonly state: Readonly<ConversationState>
  readonly titleByProfile: TitleByProfile
  readonly isRunning: () => boolean
  /** Resolves when a run whose end is published has written everything. */
  readonly woundUp: () => Promise<void>
  /** Why no more may be spent; undefined while more may be spent. */
  readonly budgetSpent: () => string | undefined
  readonly record: (draft: EventDraft) => void
  readonly count: (usage: UsageReport) => void
}

/** Asks the model of a stored profile for a title. Undefined when there is no such model. */
export type TitleByProfile = (
  request: { readonly profile: string; readonly text: string; readonly signal: AbortSignal },
) => Promise<TitleAnswer | undefined>

export class AgentRequests {
  readonly #options: AgentRequestsOptions
  #isAsking = false
  #isCondensing = false

  constructor(options: AgentRequestsOptions) {
    this.#options = options
  }

  /**
   * Asks the agent beside its work. Only the cost is recorded.
   * @throws AppError `conflict` while another question is pending, or when the budget is spent; the agent's errors.
   */
  async askAside(question: string, signal: AbortSignal): Promise<string> {
    const { agent, budgetSpent, count } = this.#options
    const refusal = this.#isAsking ? 'another question is open' : budgetSpent()
    if (refusal !== undefined) throw new AppError('conflict', `Cannot ask the agent: ${refusal}`)
    this.#isAsking = true
    try {
      const { text, usage } = await agent().askAside(question, signal)
      count(usage)
      return text
    } finally {
      this.#isAsking = false
    }
  }

  /**
   * Has the agent condense the history, between two runs.
   * @throws AppError `bad_request` when the agent cannot; `conflict` during a run or another condensation, or when the
   * budget is spent; the agent's errors.
   */
  async condense(signal: AbortSignal): Promise<void> {
    const { agent, record, count } = this.#options
    const condenser = agent()
    if (condenser.condense === undefined) {
      const reason = 'the conversation is driven by an external agent, which keeps its own'
      throw new AppError('bad_request', `Cannot condense the history: ${reason}`)
    }
    await this.#options.woundUp()
    const refusal = this.#busy()
    if (refusal !== undefined) throw new AppError('conflict', `Cannot condense the history: ${refusal}`)
    this.#isCondensing = true
    try {
      await condenser.condense({ signal, record, usage: count })
    } finally {
      this.#isCondensing = false
    }
  }

  /**
   * Asks for a title: the model that the conversation names for titles, else the agent's model. Returns undefined, or
   * resolves with undefined, when there is no such model or the budget is spent.
   */
  askTitle(text: string, signal: AbortSignal): Promise<TitleAnswer | undefined> | undefined {
    const { state, titleByProfile, budgetSpent } = this.#options
    if (budgetSpent() !== undefined) return undefined
    const { title_llm_profile: profile } = state
    if (profile === null) return this.#titleByAgent(text, signal)
    return titleByProfile({ profile, text, signal }).then((answer) => {
      return answer === undefined ? this.#titleByAgent(text, signal) : this.#counted(answer)
    })
  }

  /**
   * Has the agent's model judge a goal.
   * @throws AppError `conflict` when the budget is spent, `bad_request` without such a model; the agent's errors
   */
  async judgeGoal(objective: string, signal: AbortSignal): Promise<GoalVerdict> {
    const { agent, budgetSpent, count } = this.#options
    const spent = budgetSpent()
    if (spent !== undefined) throw new AppError('conflict', `Cannot judge the goal: ${spent}`)
    const judgement = await agent().judgeGoal?.(objective, signal)
    if (judgement === undefined) throw new AppError('bad_request', 'no_judge_llm')
    count(judgement.usage)
    return judgement.verdict
  }

  /** Asks the built-in agent's model. An external agent has no model to ask. */
  #titleByAgent(text: string, signal: AbortSignal): Promise<TitleAnswer> | undefined {
    const { state, agent } = this.#options
    if (state.agent['kind'] !== 'Agent') return undefined
    return agent().makeTitle?.(text, signal)?.then((answer) => this.#counted(answer))
  }

  #counted(answer: TitleAnswer): TitleAnswer {
    if ('usage' in answer) this.#options.count(answer.usage)
    return answer
  }

  #busy(): string | undefined {
    const { isRunning, budgetSpent } = this.#options
    if (isRunning()) return 'the conversation is running'
    return this.#isCondensing ? 'that is being done already' : budgetSpent()
  }
}
