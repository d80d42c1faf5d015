/**
 * What the answer to a prompt means for the turn (decisions, 25). Pure.
 *
 * The stop reason is not the whole truth: Codex reports failures of its model as text and `end_turn`, and ends a turn with
 * `cancelled` after a permission was denied (acp.md, sections 3.2 and 3.5). Unknown reasons count as an orderly end.
 */
import { AcpFailure, cutDetail, isAuthText } from './failure.ts'
import { memberAt } from '../../base/fields.ts'

export interface TurnFacts {
  /** A permission was denied in this turn. */
  readonly hasDenied: boolean
  /** The agent has shown by other signs that its model failed. */
  readonly hidFailure: boolean
  readonly lastText: string
}

/** The failure that the answer stands for, or undefined for an orderly end. */
export function endOf(result: unknown, facts: TurnFacts): AcpFailure | undefined {
  const reason = memberAt(result, 'stopReason')
  switch (reason) {
    case 'refusal':
      return new AcpFailure('UsagePolicyRefusal', 'The agent refused to go on')
    case 'max_turn_requests':
      return new AcpFailure('MaxIterationsReached', 'The agent reached its maximum iterations limit')
    case 'cancelled':
      if (facts.hasDenied) return undefined
      return new AcpFailure('ACPPromptError', 'The agent cancelled the turn by itself')
    default:
      if (!facts.hidFailure) return undefined
      return hiddenFailure(facts.lastText.trim())
  }
}

function hiddenFailure(text: string): AcpFailure {
  return new AcpFailure(isAuthText(text) ? 'ACPAuthRequired' : 'ACPPromptError', cutDetail(text) || 'The agent could not reach its model')
}
