/**
 * Finds options, other than modes, by which an agent stops asking for permission (Copilot CLI: `allow_all`; Cline:
 * `auto_approve`). Pure.
 */
import { isOpenByName } from '../../../settings/open-modes.ts'
import type { SessionOption } from './config-options.ts'

type Named = Pick<SessionOption, 'id' | 'category' | 'values'>

const offWords = ['off', 'false', 'no', 'disabled']
/** Option categories that do not concern permissions (ACP v1, session config options). */
const ofTheModel = ['model', 'model_config', 'thought_level']

/**
 * True when the agent, with the option set to this value, asks for no permission: the value says so (`yolo`), or the id
 * of the option says so (`allow_all`) and another value is `off`. Always false for the categories `ofTheModel`.
 */
export function isOpenOption({ id, category, values }: Named, value: string): boolean {
  if (category !== undefined && ofTheModel.includes(category)) return false
  return isOpenByName(value) || (isOpenByName(id) && values.some(isOff) && !isOff(value))
}

/** Returns a value with which the agent asks, preferably one of `offWords`; undefined if there is no such value. */
export function closedValue(option: Named): string | undefined {
  return option.values.find(isOff) ?? option.values.find((value) => !isOpenOption(option, value))
}

/** Returns a stand-in for an option that no running session has. It can be `off`, so `isOpenOption` judges its id. */
export function unknownOption(id: string): Named {
  return { id, category: undefined, values: ['off'] }
}

function isOff(value: string): boolean {
  return offWords.includes(value.toLowerCase())
}
