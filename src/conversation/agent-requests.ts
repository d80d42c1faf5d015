/**
 * What is asked of an agent besides its turns: a question beside the work and to condense the history by a client, a title
 * and a verdict on a goal by the conversation itself.
 *
 * Within the budget of the conversation, and what it costs is counted. The status stays what it is.
 */
import { AppError } from '../base/errors.ts'
import type { GoalVerdict } from '../schema/generated/conversations.ts'
import type { EventDraft } from '../schema/generated/events.ts'
import type { Agent, TitleAnswer, UsageReport } from './agent.ts'
import type { ConversationState } from './state.ts'

export interface AgentRequestsOptions {
  /** The agent of this moment. */
  readonly agent: () => Agent
  readonly state: Readonly<ConversationState>
  readonly titleByProfile: TitleByProfile
  readonly isRunning: () => boolean
  /** Resolves when a run that has ended for everyone to see has written all that it had to. */
  readonly woundUp: () => Promise<void>
  /** Why no more may be spent; undefined while it may. */
  readonly budgetSpent: () => string | undefined
  readonly record: (draft: EventDraft) => void
  readonly count: (usage: UsageReport) => void
}

/** A title by the model of a stored profile; undefined when there is none that could be asked. */
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
   * Asks the agent beside its work; nothing but the cost of it is left.
   * @throws AppError `conflict` while another question is open, or when the budget is spent; what the agent throws.
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
   * Has the history condensed, between two runs.
   * @throws AppError `bad_request` when the agent cannot, `conflict` during a run or another condensation, or when the
   * budget is spent; what the agent throws.
   */
  async condense(signal: AbortSignal): Promise<void> {
    const { agent, record, count } = this.#options
    const condenser = agent()
    if (condenser.condense === undefined) {
      throw new AppError('bad_request', 'Cannot condense the history: the conversation is driven by an external agent, which keeps its own')
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
   * Asks for a title: the model that the conversation names for it, or else the agent's. Undefined, at once or later, when
   * there is none that may be asked.
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
   * @throws AppError `conflict` when the budget is spent, `bad_request` without such a model; what the agent throws
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

  /** An external agent has no model that could be asked. */
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
