/**
 * Finds out whether a prompt ended with a failure, and with which failure (decisions 25). Pure.
 *
 * The stop reason is not enough: Codex and Copilot report a failure of their model as text with `end_turn`
 * (agents/acp/agents.md, "Failures, questions, usage").
 */
import { memberAt, textOf, type Fields } from '../../../base/fields.ts'
import { AcpFailure, cutDetail, isAuthText } from '../session/failure.ts'
import type { Quirks } from '../session/quirks.ts'

export interface TurnFacts {
  readonly hasDenied: boolean
  /** The signs of a failure of the agent's model, from the updates. */
  readonly signs: FailureSigns
  readonly quirks: Quirks
  readonly lastText: string
}

export interface FailureSigns {
  /** True when an update had Codex's `threadStatus` with the type `systemError`. */
  readonly systemError?: true
  /** The text of the message chunk that reported a failure of the model (Copilot). */
  readonly text?: string
}

/** Returns `before` together with the signs of failure in an update. */
export function mergeSigns(before: FailureSigns, update: Fields, { failureText }: Quirks): FailureSigns {
  const status = memberAt(update, '_meta', 'codex', 'threadStatus', 'type')
  if (status === 'systemError') return { ...before, systemError: true }
  if (failureText === undefined || update['sessionUpdate'] !== 'agent_message_chunk') return before
  const text = textOf(memberAt(update, 'content', 'text'))
  return text !== undefined && failureText.test(text) ? { ...before, text } : before
}

/** Returns the failure that the result or the updates of the turn report; undefined for an orderly end. */
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
      return hiddenFailure(result, facts)
  }
}

function hiddenFailure(result: unknown, { signs, quirks, lastText }: TurnFacts): AcpFailure | undefined {
  const usage = memberAt(result, 'usage')
  const hasFailed = quirks.failsWithoutUsage === true && (signs.systemError === true || usage === null)
  const hasSaidSo = signs.text !== undefined && (usage === undefined || usage === null)
  if (!hasFailed && !hasSaidSo) return undefined
  const text = (hasSaidSo ? signs.text : lastText).trim()
  const code = isAuthText(text, quirks.loginRefused) ? 'ACPAuthRequired' : 'ACPPromptError'
  return new AcpFailure(code, cutDetail(text) || 'The agent could not reach its model')
}
