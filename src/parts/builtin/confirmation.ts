/**
 * Whether the actions of one answer have to wait for the user (contract: conversations.md, section 3).
 *
 * The whole batch waits if the policy says so for the risk of any of its actions. An answer that only thinks or
 * finishes never waits: it changes nothing. An action that is done with the user's yes only waits under each policy that
 * asks at all; under one that never asks its tool refuses it. Without an analyzer no declared risk is believed, so all are UNKNOWN.
 */
import { assertNever } from '../../base/errors.ts'
import type { Action } from '../../schema/generated/actions.ts'
import type { ConfirmationPolicy } from '../../schema/generated/conversations.ts'
import type { SecurityRisk } from '../../schema/generated/values.ts'

export interface JudgedAction {
  readonly action: Action
  /** As the model declared it. */
  readonly risk: SecurityRisk
  /** The action is done with the user's yes only. */
  readonly asks?: boolean
}

export interface ConfirmationRules {
  readonly policy: ConfirmationPolicy
  readonly hasAnalyzer: boolean
}

/** True when the batch must not run before the user has approved it. */
export function needsConfirmation(batch: readonly JudgedAction[], { policy, hasAnalyzer }: ConfirmationRules): boolean {
  if (batch.every(({ action }) => isHarmless(action))) return false
  if (policy.kind !== 'NeverConfirm' && batch.some(({ asks }) => asks)) return true
  return batch.some(({ risk }) => asksFor(hasAnalyzer ? risk : 'UNKNOWN', policy))
}

function isHarmless(action: Action): boolean {
  return action.kind === 'FinishAction' || action.kind === 'ThinkAction'
}

function asksFor(risk: SecurityRisk, policy: ConfirmationPolicy): boolean {
  switch (policy.kind) {
    case 'NeverConfirm':
      return false
    case 'AlwaysConfirm':
      return true
    case 'ConfirmRisky':
      return risk === 'UNKNOWN' ? policy.confirm_unknown : rank[risk] >= rank[policy.threshold]
    default:
      return assertNever(policy)
  }
}

const rank = { LOW: 1, MEDIUM: 2, HIGH: 3 } as const
