/**
 * Values that are about to be recorded, with every known secret in them replaced. What runs is never taken from here.
 *
 * A masked value has to fit its schema, so a number that is a secret becomes 0 where no text may stand, and a word that
 * the schema itself asks for (the name of a member or of a command) stays.
 */
import { isObservation, toObservation, type Observation } from '../../schema/generated/observations.ts'
import { isAction, toAction, type Action } from '../../schema/generated/actions.ts'
import { isMessage, toMessage, type Message, type MessageToolCall } from '../../schema/generated/values.ts'
import { maskJson, maskJsonText } from '../../base/mask-json.ts'

type Mask = (text: string) => string

export function maskMessage(message: Message, mask: Mask): Message {
  return maskFitting(message, mask, (masked) => (isMessage(masked) ? toMessage(masked) : undefined))
}

export function maskObservation(observation: Observation, mask: Mask): Observation {
  return maskFitting(observation, mask, (masked) => (isObservation(masked) ? toObservation(masked) : undefined))
}

export function maskAction(action: Action, mask: Mask): Action {
  return maskFitting(action, mask, (masked) => (isAction(masked) ? toAction(masked) : undefined))
}

/** The arguments of a call are JSON, and stay that. */
export function maskCall(call: MessageToolCall, mask: Mask): MessageToolCall {
  return { ...call, arguments: maskJsonText(call.arguments, mask) }
}

function maskFitting<Value>(value: Value, mask: Mask, fit: (masked: unknown) => Value | undefined): Value {
  const zero = (): number => 0
  const butWords: Mask = (text) => (/^[a-z_]{1,40}$/i.test(text) ? text : mask(text))
  return fit(maskJson(value, mask)) ?? fit(maskJson(value, mask, zero)) ?? fit(maskJson(value, butWords, zero)) ?? broken()
}

function broken(): never {
  throw new TypeError('A value does not fit its schema once its secrets are masked')
}
