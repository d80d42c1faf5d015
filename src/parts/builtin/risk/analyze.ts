/**
 * Judges the risk of a call with the security analyzer of the conversation.
 *
 * An ensemble returns its analyzers' highest known risk, or UNKNOWN if they know none. With `propagate_unknown`, one
 * UNKNOWN makes the ensemble's risk UNKNOWN.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assertNever } from '../../../base/errors.ts'
import type { SecurityAnalyzer } from '../../../schema/generated/conversations.ts'
import type { SecurityRisk } from '../../../schema/generated/values.ts'
import { corpusOf, type Corpus } from './corpus.ts'
import { patternRisk } from './patterns.ts'
import { railRisk } from './policy-rails.ts'

export interface AnalyzedCall {
  readonly tool: { readonly name: string; readonly isReadOnly: boolean }
  readonly call: { readonly arguments: string }
  /** The risk that the model declared. */
  readonly risk: SecurityRisk
  readonly summary: string
}

/** Returns the calls. A valid call has the risk that `analyzedRisk` finds. Yields to the event loop after each call. */
export async function analyzed<T extends { readonly ok: false } | (AnalyzedCall & { readonly ok: true })>(
  analyzer: SecurityAnalyzer | null, said: readonly string[], calls: readonly T[],
): Promise<T[]> {
  const judged: T[] = []
  for (const call of calls) {
    judged.push(call.ok ? { ...call, risk: analyzedRisk(analyzer, call, said) } : call)
    await nextTurn()
  }
  return judged
}

/**
 * Returns the risk of a call; UNKNOWN without an analyzer.
 * @param said the text and the thoughts of the model's answer that has the call
 */
export function analyzedRisk(
  analyzer: SecurityAnalyzer | null, { tool, call, risk, summary }: AnalyzedCall, said: readonly string[],
): SecurityRisk {
  if (analyzer === null) return 'UNKNOWN'
  if (analyzer.kind === 'LLMSecurityAnalyzer') return risk
  return riskBy(analyzer, risk, corpusOf(tool.name, call.arguments, [...said, summary]))
}

function riskBy(analyzer: SecurityAnalyzer, declared: SecurityRisk, corpus: Corpus | undefined): SecurityRisk {
  switch (analyzer.kind) {
    case 'LLMSecurityAnalyzer':
      return declared
    case 'PatternSecurityAnalyzer':
      return corpus === undefined ? 'UNKNOWN' : patternRisk(corpus)
    case 'PolicyRailSecurityAnalyzer':
      return corpus === undefined ? 'UNKNOWN' : railRisk(corpus)
    case 'EnsembleSecurityAnalyzer': {
      const risks = analyzer.analyzers.map((one) => riskBy(one, declared, corpus))
      const isUnknown = analyzer.propagate_unknown && risks.includes('UNKNOWN')
      return isUnknown ? 'UNKNOWN' : (order.findLast((known) => risks.includes(known)) ?? 'UNKNOWN')
    }
    default:
      return assertNever(analyzer)
  }
}

const order = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH'] as const

/** Returns whether the analyzer uses the risk that the model declares. */
export function usesDeclaredRisk(analyzer: SecurityAnalyzer | null): boolean {
  if (analyzer?.kind !== 'EnsembleSecurityAnalyzer') return analyzer?.kind === 'LLMSecurityAnalyzer'
  return analyzer.analyzers.some(({ kind }) => kind === 'LLMSecurityAnalyzer')
}
