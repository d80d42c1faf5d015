/**
 * Finds options other than modes by which an agent stops asking for permission (Copilot CLI: `allow_all`; Cline:
 * `auto_approve`). Pure.
 *
 * An option is judged by the words of its value and its id (`isOpenOption`). Options for the model are never judged.
 */
import { isOpenByName } from '../../settings/open-modes.ts'
import type { SessionOption } from './config-options.ts'

type Named = Pick<SessionOption, 'id' | 'category' | 'values'>

const offWords = ['off', 'false', 'no', 'disabled']
/** The option categories that have nothing to do with permissions (ACP v1, session config options). */
const ofTheModel = ['model', 'model_config', 'thought_level']

/** True when the words of an option and its value mean that the agent works without asking. */
export function isOpenOption({ id, category, values }: Named, value: string): boolean {
  if (category !== undefined && ofTheModel.includes(category)) return false
  return isOpenByName(value) || (isOpenByName(id) && values.some(isOff) && !isOff(value))
}

/**
 * Returns a value of the option with which the agent asks: an off word, else a value that is not open, else undefined.
 */
export function closedValue(option: Named): string | undefined {
  return option.values.find(isOff) ?? option.values.find((value) => !isOpenOption(option, value))
}

/**
 * Returns a stand-in for an option whose values are unknown, because no session runs. The stand-in offers the value
 * `off`, because `isOpenOption` judges an option by its id only if the option offers an off value.
 */
export function unknownOption(id: string): Named {
  return { id, category: undefined, values: ['off'] }
}

function isOff(value: string): boolean {
  return offWords.includes(value.toLowerCase())
}
