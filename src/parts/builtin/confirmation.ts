/**
 * Decides whether the actions of one answer, a batch, wait for the user's approval (contract/conversations.md,
 * section 3).
 *
 * The whole batch waits when one of its actions needs approval. A batch of finish and think actions alone never waits.
 * Without a security analyzer, the risk of every action is UNKNOWN.
 */
import { assertNever } from '../../base/errors.ts'
import type { Action } from '../../schema/generated/actions.ts'
import type { ConfirmationPolicy } from '../../schema/generated/conversations.ts'
import type { SecurityRisk } from '../../schema/generated/values.ts'

export interface JudgedAction {
  readonly action: Action
  /** The risk that the conversation's security analyzer found; UNKNOWN without an analyzer. */
  readonly risk: SecurityRisk
  /** True for an action that needs approval at any risk, except under `NeverConfirm`. */
  readonly asks?: boolean
}

export interface ConfirmationRules {
  readonly policy: ConfirmationPolicy
  readonly hasAnalyzer: boolean
}

/** Returns whether the batch has to wait for the user's approval. */
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
