/**
 * Condenses the view, which is the history that the model is shown: asks a model for a summary of events, and records
 * the summary (contract/events.md, section 4; contract/settings.md, "condenser").
 *
 * Before a step (`relieve`), a failed condensation does not end the run. After a request that the model refused as too
 * long (`overflowed`), a failed condensation ends the run.
 */
import { AppError } from '../../../base/errors.ts'
import type { AgentHost, History } from '../../../conversation/agent/host.ts'
import type { CondensingWork } from '../../../conversation/agent/agent.ts'
import { textIn } from '../../../conversation/log/message-text.ts'
import type { LLMSummarizingCondenser } from '../../../schema/generated/conversations.ts'
import type { LLM } from '../../../schema/generated/llm.ts'
import { condenserUsageId } from '../../../conversation/log/info.ts'
import { ModelError, type ModelClient, type ModelUsage } from '../llm/model.ts'
import { completionLog } from '../recording/completion-log.ts'
import { maskingWays } from '../recording/masked.ts'
import { tell } from '../view/units.ts'
import type { View } from '../view/view.ts'
import { countChars, countEvents } from '../view/applied.ts'
import { shortened } from './digest.ts'
import { planAll, planPart, type Plan, type PlanInput } from './plan.ts'
import { summarize, type Summary } from './summary.ts'

export interface CondenserOptions {
  /** Returns the condenser's current settings. If they name no model, the condenser uses the agent's model. */
  readonly settings: () => LLMSummarizingCondenser
  readonly host: Pick<AgentHost, 'mask' | 'maskingStream'>
  readonly view: View
  readonly history: History
  /** Returns the settings of the agent's current model. */
  readonly llm: () => LLM
  /** Makes the client of a model. @throws ModelError for the settings that `CreateModel` (create.ts) refuses */
  readonly createModel: (llm: LLM) => ModelClient
}

const charsPerToken = 4
/** The most characters of the newest user message that a summary quotes. */
const quoteLimitChars = 4000

export class Condenser {
  readonly #options: CondenserOptions
  /** The prompt tokens that the agent's model last reported, and the view's size in characters at that time. */
  #counted = { tokens: 0, chars: 0 }
  /** After a failure, `relieve` condenses nothing while the view has fewer events than this number. */
  #retryAtEvents = 0
  /** How many requests the model has refused as too long since its last answer; 0 after `overflowed` has thrown. */
  #overflows = 0

  constructor(options: CondenserOptions) {
    this.#options = options
  }

  /** Called after an answer of the agent's model. Resets `#overflows`, and keeps the model's count of prompt tokens. */
  answered({ promptTokens }: ModelUsage): void {
    this.#overflows = 0
    if (promptTokens !== undefined) this.#counted = { tokens: promptTokens, chars: this.#options.view.size.chars }
  }

  /**
   * Condenses before a step, if the view exceeds a limit of the settings or a condensation was requested. Does nothing
   * when too few events can be forgotten. Returns true when a model has written a summary.
   * @throws the signal's reason
   */
  async relieve(work: CondensingWork): Promise<boolean> {
    const { view, settings } = this.#options
    const { events } = view.size
    if (events < this.#retryAtEvents) return false
    const plan = this.#planRelief()
    if (plan === undefined) return false
    try {
      await this.#carryOut(plan, work)
      this.#retryAtEvents = 0
      return true
    } catch (thrown) {
      if (!(thrown instanceof ModelError)) throw thrown
      this.#retryAtEvents = Math.ceil(events * (1 + settings().minimum_progress))
      return false
    }
  }

  /**
   * Condenses after the model refused the view as too long.
   * @throws ModelError with the code of `error` when the view cannot be condensed; the signal's reason
   */
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
      throw new ModelError(error.code, `${error.message}. No summary could be made: ${thrown.message}`, {
        cause: thrown,
      })
    }
  }

  /**
   * Condenses at the request of a client.
   * @throws AppError `conflict` when fewer than two events can be forgotten, `agent_failed` when the model fails; the
   * signal's reason
   */
  async condense(work: CondensingWork): Promise<void> {
    const { view, history, host } = this.#options
    view.add(await history.next())
    const plan = this.#planHalf() ?? planAll(this.#input())
    if (plan === undefined) throw new AppError('conflict', 'Cannot condense the history: it is too short')
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

  /**
   * Plans to forget half of the view. When half is not possible, or after a second refused request, plans to forget all
   * that `planAll` allows. Returns undefined after a third refused request, or when too few events can be forgotten.
   */
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
    // Drop the summary when the view has lost a summarized event, for example at a move to another branch.
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
    const id = chosen === settings.llm ? chosen.usage_id : condenserUsageId
    work.usage({ usageId: id, model: client.model, ...summary.answer.usage })
    const log = await completionLog(summary.answer, { model: client.model, usageId: id, ways: maskingWays(host) })
    if (log !== undefined) work.record(log)
    return summary
  }

  /** Quotes the newest user message for the summary. Returns '' if there is none, or if it stays in the view. */
  #quote(here: ReadonlySet<string>, forgotten: readonly string[]): string {
    const message = this.#options.view.lastUserMessage
    if (message === undefined || (here.has(message.id) && !forgotten.includes(message.id))) return ''
    const text = textIn(message.llm_message.content)
    return `\n\nThe last message of the user:\n\n${shortened(text, quoteLimitChars)}`
  }
}
