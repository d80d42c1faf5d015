/**
 * Keeps the history that a model is told of within bounds: it decides when a condensation is due, has the summary made,
 * and records both (contract: events.md, section 4; settings.md, "condenser").
 *
 * Due is one before a step, when the view has more events than `max_size` or more tokens than `max_tokens`, or when it was
 * asked for; and after a model has refused a request as too long. Tokens are estimated: what the model reported of its last
 * request, and a quarter of the characters that came since. A condensation that fails is no end of a run, and is not tried
 * again until the view has grown. When the request was too long it is one, and so it is when the model refuses the request
 * a third time: after a half, then everything but the system prompt has been summarized.
 */
import { AppError } from '../../../base/errors.ts'
import type { AgentHost, CondensingWork, History } from '../../../conversation/agent.ts'
import { textIn } from '../../../conversation/message-text.ts'
import type { LLMSummarizingCondenser } from '../../../schema/generated/conversations.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import { ModelError, type ModelClient, type ModelUsage } from '../llm/model.ts'
import { completionLog } from '../completion-log.ts'
import { maskingWays } from '../masked.ts'
import { tell } from '../units.ts'
import type { View } from '../view.ts'
import { countChars, countEvents } from './applied.ts'
import { shortened } from './digest.ts'
import { planAll, planPart, type Plan, type PlanInput } from './plan.ts'
import { summarize, type Summary } from './summary.ts'

export interface CondenserOptions {
  /** As they are at this moment: a switch of the agent's model may switch the condenser's. */
  readonly settings: () => LLMSummarizingCondenser
  readonly host: Pick<AgentHost, 'mask' | 'maskingStream'>
  readonly view: View
  readonly history: History
  /** The model of the agent at this moment. */
  readonly llm: () => LLM
  /** @throws ModelError for settings that name no model */
  readonly createModel: (llm: LLM) => ModelClient
}

/** Of summaries by the model of the agent. */
const usageId = 'condenser'
const charsPerToken = 4
/** Of the newest message of the user, where the summary takes its place. */
const quoteLimitChars = 4000

export class Condenser {
  readonly #options: CondenserOptions
  /** What the model has counted, and how much text that was. */
  #counted = { tokens: 0, chars: 0 }
  /** After a failure: how many events the view must have before it is tried again. */
  #triesAgainAt = 0
  /** Requests in a row that were too long. */
  #overflows = 0

  constructor(options: CondenserOptions) {
    this.#options = options
  }

  /** The model has answered what the view holds. */
  answered({ promptTokens }: ModelUsage): void {
    this.#overflows = 0
    if (promptTokens !== undefined) this.#counted = { tokens: promptTokens, chars: this.#options.view.size.chars }
  }

  /** Before a step. Whatever the condensation's model does, the step may follow. @throws the signal's reason */
  async relieve(work: CondensingWork): Promise<void> {
    const { view, settings } = this.#options
    const { events } = view.size
    if (events < this.#triesAgainAt) return
    const plan = this.#planRelief()
    if (plan === undefined) return
    try {
      await this.#carryOut(plan, work)
      this.#triesAgainAt = 0
    } catch (thrown) {
      if (!(thrown instanceof ModelError)) throw thrown
      this.#triesAgainAt = Math.ceil(events * (1 + settings().minimum_progress))
    }
  }

  /** The model has refused what the view holds as too long. @throws ModelError `error` when nothing helps; the signal's reason */
  async overflowed(error: ModelError, work: CondensingWork): Promise<void> {
    this.#overflows++
    try {
      const plan = this.#planOverflow()
      if (plan === undefined) throw error
      work.record({ kind: 'CondensationRequest', source: 'environment' })
      await this.#carryOut(plan, work)
    } catch (thrown) {
      this.#overflows = 0
      if (thrown === error || !(thrown instanceof ModelError)) throw thrown
      throw new ModelError(error.code, `${error.message}. No summary could be made: ${thrown.message}`, { cause: thrown })
    }
  }

  /** At the request of a client. @throws AppError `conflict` when there is too little, `agent_failed`; the signal's reason */
  async condense(work: CondensingWork): Promise<void> {
    const { view, history, host } = this.#options
    view.add(await history.next())
    const plan = this.#planHalf() ?? planAll(this.#input())
    if (plan === undefined) throw new AppError('conflict', 'Cannot condense the history: there is too little of it')
    work.record({ kind: 'CondensationRequest', source: 'environment' })
    try {
      await this.#carryOut(plan, work)
    } catch (thrown) {
      throw thrown instanceof ModelError ? new AppError('agent_failed', host.mask(thrown.message)) : thrown
    }
  }

  #planRelief(): Plan | undefined {
    const { view, settings } = this.#options
    const { max_size, max_tokens, minimum_progress } = settings()
    if (view.isCondensationRequested) return this.#planHalf()
    const { events, chars } = view.size
    const tokens = this.#counted.tokens + (chars - this.#counted.chars) / charsPerToken
    const isTooLong = events > max_size
    const isTooLarge = max_tokens !== null && tokens > max_tokens
    if (!isTooLong && !isTooLarge) return undefined
    const plan = planPart(this.#input(), {
      events: isTooLong ? Math.floor(max_size / 2) : undefined,
      chars: isTooLarge ? (tokens - max_tokens / 2) * charsPerToken : undefined,
    })
    if (plan === undefined) return undefined
    const share = isTooLong ? countEvents(plan.forgotten) / events : countChars(plan.forgotten) / chars
    return share < minimum_progress ? undefined : plan
  }

  /** First half of the events and half of the text, then everything. */
  #planOverflow(): Plan | undefined {
    const { events, chars } = this.#options.view.size
    if (this.#overflows > 2) return undefined
    const half = planPart(this.#input(), { events: Math.floor(events / 2), chars: chars / 2 })
    return this.#overflows === 1 && half !== undefined ? half : planAll(this.#input())
  }

  #planHalf(): Plan | undefined {
    return planPart(this.#input(), { events: Math.floor(this.#options.view.size.events / 2) })
  }

  #input(): PlanInput {
    const { view, settings } = this.#options
    return { units: view.units, before: view.hasSystemPrompt ? 1 : 0, keepFirst: settings().keep_first }
  }

  async #carryOut(plan: Plan, work: CondensingWork): Promise<void> {
    const { view, history } = this.#options
    const ids = plan.forgotten.flatMap((unit) => unit.ids)
    const { text, answer } = await this.#summarize(plan, work)
    view.add(await history.next())
    // The head may have been moved meanwhile: then the summary speaks of another branch.
    const here = new Set(view.units.flatMap((unit) => unit.ids))
    if (!ids.every((id) => here.has(id))) return
    work.record({
      kind: 'Condensation',
      source: 'environment',
      forgotten_event_ids: ids,
      summary: `${text}${this.#quote(here, ids)}`,
      summary_offset: plan.offset,
      llm_response_id: answer.id,
    })
    view.add(await history.next())
  }

  async #summarize({ forgotten }: Plan, work: CondensingWork): Promise<Summary> {
    const { host, llm, createModel } = this.#options
    const settings = this.#options.settings()
    const chosen = settings.llm ?? llm()
    const client = createModel({ ...chosen, caching_prompt: false })
    const summary = await summarize({
      messages: tell(forgotten).map(({ message }) => message),
      client,
      signal: work.signal,
      mask: host.mask,
      attempts: settings.hard_context_reset_max_retries,
      scaling: settings.hard_context_reset_context_scaling,
    })
    const id = chosen === settings.llm ? chosen.usage_id : usageId
    work.usage({ usageId: id, model: client.model, ...summary.answer.usage })
    const log = await completionLog(summary.answer, { model: client.model, usageId: id, ways: maskingWays(host) })
    if (log !== undefined) work.record(log)
    return summary
  }

  /** The newest message of the user is never told by a summary alone. */
  #quote(here: ReadonlySet<string>, forgotten: readonly string[]): string {
    const message = this.#options.view.lastUserMessage
    if (message === undefined || (here.has(message.id) && !forgotten.includes(message.id))) return ''
    const text = textIn(message.llm_message.content)
    return `\n\nThe last message of the user:\n\n${shortened(text, quoteLimitChars)}`
  }
}
