/**
 * Keeps the originals of calls that wait for the user's approval.
 *
 * The history shows a call with secrets masked. The log stores the original too, encrypted (decisions 12).
 */
import { parseJson } from '../../../base/json.ts'
import { secretMark } from '../../../base/masking.ts'
import { isAction, toAction, type Action } from '../../../schema/generated/actions.ts'
import type { Cipher } from '../../../settings/cipher.ts'

export type CallCipher = Pick<Cipher, 'seal' | 'open'>

/** Returns the encrypted action; undefined if it equals `recorded` and has no `secretMark`, which hides a secret. */
export function sealAction(id: string, action: Action, recorded: Action, cipher: CallCipher): string | undefined {
  const original = JSON.stringify(action)
  const isWhole = original === JSON.stringify(recorded) && !original.includes(secretMark)
  return isWhole ? undefined : cipher.seal(original, contextOf(id))
}

/** Returns the original of a recorded action; undefined if the original is lost. @param kept result of `sealAction` */
export function originalOf(
  id: string, recorded: Action, kept: string | undefined, cipher: CallCipher,
): Action | undefined {
  if (kept === undefined) return JSON.stringify(recorded).includes(secretMark) ? undefined : recorded
  const text = cipher.open(kept, contextOf(id))
  const action = text === undefined ? undefined : parseJson(text)
  return isAction(action) ? toAction(action) : undefined
}

/** Returns the additional data of the encryption, which binds the encrypted action to its event. */
function contextOf(id: string): string {
  return `call.${id}`
}
