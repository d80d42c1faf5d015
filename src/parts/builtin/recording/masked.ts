/**
 * Masks known secrets in values before they are recorded.
 *
 * A masked value still fits its schema: a masked number may become 0, and a word that the schema requires is kept
 * (required-words.ts).
 */
import type { AgentHost } from '../../../conversation/agent/host.ts'
import { isObservation, toObservation, type Observation } from '../../../schema/generated/observations.ts'
import { isAction, toAction, type Action } from '../../../schema/generated/actions.ts'
import { isMessage, toMessage, type Message, type MessageToolCall } from '../../../schema/generated/values.ts'
import { maskJson } from '../../../base/mask-json.ts'
import { maskedTexts, maskJsonTextInTurns, type MaskingWays } from '../../../base/mask-turns.ts'
import { isWord, maskFreeWords } from './required-words.ts'

/** Returns the functions that mask the secrets that the agent's host knows. */
export function maskingWays(host: Pick<AgentHost, 'mask' | 'maskingStream'>): MaskingWays {
  return { mask: (text) => host.mask(text), stream: () => host.maskingStream() }
}

export function maskMessage(message: Message, ways: MaskingWays): Promise<Message> {
  return maskFitting(message, ways, (masked) => (isMessage(masked) ? toMessage(masked) : undefined))
}

export function maskObservation(observation: Observation, ways: MaskingWays): Promise<Observation> {
  return maskFitting(observation, ways, (masked) => (isObservation(masked) ? toObservation(masked) : undefined))
}

export function maskAction(action: Action, ways: MaskingWays): Promise<Action> {
  return maskFitting(action, ways, (masked) => (isAction(masked) ? toAction(masked) : undefined))
}

/** Masks the arguments of a call. Valid JSON stays valid. */
export async function maskCall(call: MessageToolCall, ways: MaskingWays): Promise<MessageToolCall> {
  return { ...call, arguments: await maskJsonTextInTurns(call.arguments, ways) }
}

async function maskFitting<Value>(
  value: Value, ways: MaskingWays, fit: (masked: unknown) => Value | undefined,
): Promise<Value> {
  const mask = await maskedTexts(value, ways)
  const zero = (): number => 0
  const fitting = fit(maskJson(value, mask)) ?? fit(maskJson(value, mask, zero))
  if (fitting !== undefined) return fitting
  // Mask the words (1 to 40 letters and `_`) that the schema does not require, then all other texts.
  const withRequired = await maskFreeWords(value, mask, (changed) => fit(changed) !== undefined)
  return fit(maskJson(withRequired, (text) => (isWord(text) ? text : mask(text)), zero)) ?? broken()
}

function broken(): never {
  throw new TypeError('A value does not fit its schema once its secrets are masked')
}
