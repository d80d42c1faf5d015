/**
 * Values that are about to be recorded, with every known secret in them replaced.
 *
 * What a model has said is masked before anything is made of it, so what is recorded is what is done.
 */
import { toJsonObject, isObject, type JsonObject } from '../../base/json.ts'
import { isObservation, toObservation, type Observation } from '../../schema/generated/observations.ts'
import { isMessage, toMessage, type Message } from '../../schema/generated/values.ts'
import { maskJson } from '../../base/mask-json.ts'

type Mask = (text: string) => string

export function maskMessage(message: Message, mask: Mask): Message {
  const masked = maskJson(message, mask)
  return isMessage(masked) ? toMessage(masked) : broken()
}

export function maskObservation(observation: Observation, mask: Mask): Observation {
  const masked = maskJson(observation, mask)
  return isObservation(masked) ? toObservation(masked) : broken()
}

export function maskArguments(args: JsonObject, mask: Mask): JsonObject {
  const masked = maskJson(args, mask)
  return isObject(masked) ? toJsonObject(masked) : broken()
}

function broken(): never {
  throw new TypeError('A value does not fit its schema once its secrets are masked')
}
