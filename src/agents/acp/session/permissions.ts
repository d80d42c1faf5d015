/**
 * Decides the answer to a permission request of an external agent by the confirmation policy (decisions 24). Pure.
 *
 * An option is selected by its kind, not by its place, because Gemini offers "always" first (agents/acp/sessions.md,
 * "Asking"). `allow_always` is never selected, because the permission would outlive a change of the policy. The risk of
 * a call is unknown, so ConfirmRisky asks only with `confirm_unknown`.
 */
import { assertNever } from '../../../base/errors.ts'
import { objectsOf, textOf } from '../../../base/fields.ts'
import type { QuestionOption } from '../../../conversation/agent/agent.ts'
import type { ConfirmationPolicy } from '../../../schema/generated/conversations.ts'

export type Decision =
  | { readonly do: 'allow'; readonly optionId: string }
  | { readonly do: 'deny'; readonly reason: string }
  | { readonly do: 'ask' }

/** The result of `session/request_permission`. */
export interface PermissionResult {
  readonly outcome: { readonly outcome: 'selected'; readonly optionId: string } | { readonly outcome: 'cancelled' }
}

export const cancelledResult: PermissionResult = { outcome: { outcome: 'cancelled' } }

/** Reads `params.options` of a permission request. Leaves out options without an id. */
export function readOptions(value: unknown): readonly QuestionOption[] {
  return objectsOf(value).flatMap((option) => {
    const id = textOf(option['optionId'])
    if (id === undefined) return []
    return [{ id, name: textOf(option['name']) ?? id, kind: textOf(option['kind']) ?? '' }]
  })
}

const kinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always']

/** Returns the options in the form for clients. Their ids are indexes, because the agent's ids are untrusted text. */
export function shownOptions(
  options: readonly QuestionOption[],
  mask: (text: string) => string,
): readonly QuestionOption[] {
  return options.map(({ name, kind }, index) => {
    return { id: String(index), name: mask(name), kind: kinds.includes(kind) ? kind : 'other' }
  })
}

export function decide(policy: ConfirmationPolicy, options: readonly QuestionOption[]): Decision {
  const once = options.find((option) => option.kind === 'allow_once')
  if (once === undefined) return { do: 'deny', reason: 'The agent offered no way to allow this once' }
  return asks(policy) ? { do: 'ask' } : { do: 'allow', optionId: once.id }
}

export function allowOnce(options: readonly QuestionOption[]): PermissionResult {
  return selected(options.find((option) => option.kind === 'allow_once'))
}

/** Selects `reject_once`, or `reject_always` if that is missing; returns `cancelled` if both are missing. */
export function deny(options: readonly QuestionOption[]): PermissionResult {
  const once = options.find((option) => option.kind === 'reject_once')
  return selected(once ?? options.find((option) => option.kind === 'reject_always'))
}

function selected(option: QuestionOption | undefined): PermissionResult {
  return option === undefined ? cancelledResult : { outcome: { outcome: 'selected', optionId: option.id } }
}

/** True when a policy requires questions about the work of an external agent. */
export function asks(policy: ConfirmationPolicy): boolean {
  switch (policy.kind) {
    case 'NeverConfirm': return false
    case 'AlwaysConfirm': return true
    case 'ConfirmRisky': return policy.confirm_unknown
    default: return assertNever(policy)
  }
}
