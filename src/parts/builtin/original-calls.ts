/**
 * Calls that wait for the user, as the model made them: what runs once it is approved is what was asked for, also after a
 * restart, although the history shows it with secrets hidden.
 *
 * An action whose record differs from it, or has a mark in it, is sealed beside its event. Where the sealed one is missing
 * or does not open, the action is not executed: nobody knows what it was. Decisions 12.
 */
import { parseJson } from '../../base/json.ts'
import { secretMark } from '../../base/masking.ts'
import { isAction, toAction, type Action } from '../../schema/generated/actions.ts'
import type { Cipher } from '../../settings/cipher.ts'

export type CallCipher = Pick<Cipher, 'seal' | 'open'>

/** What has to be kept of an action with this id; undefined when its record says it all. */
export function sealAction(id: string, action: Action, recorded: Action, cipher: CallCipher): string | undefined {
  const original = JSON.stringify(action)
  const isWhole = original === JSON.stringify(recorded) && !original.includes(secretMark)
  return isWhole ? undefined : cipher.seal(original, contextOf(id))
}

/** What to execute for a recorded action; undefined when that is not known any more. */
export function originalOf(id: string, recorded: Action, kept: string | undefined, cipher: CallCipher): Action | undefined {
  if (kept === undefined) return JSON.stringify(recorded).includes(secretMark) ? undefined : recorded
  const text = cipher.open(kept, contextOf(id))
  const action = text === undefined ? undefined : parseJson(text)
  return isAction(action) ? toAction(action) : undefined
}

/** The sealed action of one event opens for no other. */
function contextOf(id: string): string {
  return `call.${id}`
}
