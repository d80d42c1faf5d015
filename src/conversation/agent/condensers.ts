/** Finds and replaces the condensers that summarize the history with a model, also inside a pipeline. Pure. */
import type { Agent, LLMSummarizingCondenser, PlainCondenser } from '../../schema/generated/conversations.ts'

type Condenser = Agent['condenser']

export function summarizersOf(condenser: Condenser): readonly LLMSummarizingCondenser[] {
  if (condenser === null) return []
  const all = condenser.kind === 'PipelineCondenser' ? condenser.condensers : [condenser]
  return all.filter((one) => one.kind === 'LLMSummarizingCondenser')
}

/** Returns the condenser with the result of `map` in place of each summarizing condenser. */
export function mapSummarizers(
  condenser: Condenser, map: (condenser: LLMSummarizingCondenser) => LLMSummarizingCondenser,
): Condenser {
  const mapped = (one: PlainCondenser): PlainCondenser => (one.kind === 'LLMSummarizingCondenser' ? map(one) : one)
  if (condenser === null) return null
  if (condenser.kind !== 'PipelineCondenser') return mapped(condenser)
  return { ...condenser, condensers: condenser.condensers.map(mapped) }
}
