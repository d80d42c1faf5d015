/**
 * Finds options other than modes by which an agent stops asking (Copilot CLI: `allow_all`; Cline: `auto_approve`).
 * Pure.
 *
 * This server knows only the words of an option. The option is open when its value is a word for not asking
 * (`isOpenByName`), or when its id is such a word and its value, which could be off, is not. Options for the model
 * never count.
 */
import { isOpenByName } from '../../settings/open-modes.ts'
import type { SessionOption } from './config-options.ts'

type Named = Pick<SessionOption, 'id' | 'category' | 'values'>

const offWords = ['off', 'false', 'no', 'disabled']
/** ACP v1, session config options: the categories that have nothing to do with permissions. */
const ofTheModel = ['model', 'model_config', 'thought_level']

/** True when the agent asks less with this value than without it. */
export function isOpenOption({ id, category, values }: Named, value: string): boolean {
  if (category !== undefined && ofTheModel.includes(category)) return false
  return isOpenByName(value) || (isOpenByName(id) && values.some(isOff) && !isOff(value))
}

/** The value with which the agent asks: an off word, or else any value that is not open; undefined without such. */
export function closedValue(option: Named): string | undefined {
  return option.values.find(isOff) ?? option.values.find((value) => !isOpenOption(option, value))
}

/**
 * An option of which only the id is known, because there is no session yet. It gets the value `off`, so that an id such
 * as `allow_all` counts as an option that can be open.
 */
export function unknownOption(id: string): Named {
  return { id, category: undefined, values: ['off'] }
}

function isOff(value: string): boolean {
  return offWords.includes(value.toLowerCase())
}
