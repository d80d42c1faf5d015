/**
 * Makes the event that logs one model call with its request and response (decisions 19).
 *
 * Secrets are masked before the log is cut, because a cut secret would not be recognized.
 */
import { maskTextInTurns, type MaskingWays } from '../../../base/mask-turns.ts'
import type { EventDraft } from '../../../schema/generated/events.ts'
import type { ModelAnswer } from '../llm/model.ts'

export interface CompletionLogOptions {
  readonly model: string
  readonly usageId: string
  readonly ways: MaskingWays
}

/** Returns an LLMCompletionLogEvent; undefined for an answer without `exchange`. */
export async function completionLog(
  { id, exchange }: ModelAnswer, { model, usageId, ways }: CompletionLogOptions,
): Promise<EventDraft | undefined> {
  if (exchange === undefined) return undefined
  return {
    kind: 'LLMCompletionLogEvent',
    source: 'environment',
    filename: `${id.replaceAll(/[^\w.-]/g, '_').slice(0, 100)}.json`,
    log_data: cut(await maskTextInTurns(JSON.stringify(exchange), ways)),
    model_name: model,
    usage_id: usageId,
  }
}

/** The longest log, in characters, without the note about the cut. */
const logLimit = 1024 * 1024

function cut(text: string): string {
  return text.length <= logLimit ? text : `${text.slice(0, logLimit)}[cut: ${text.length - logLimit} more characters]`
}
