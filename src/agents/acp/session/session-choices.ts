/**
 * The model, the mode and the other options of a session, each with its possible values and its current value. Pure.
 *
 * The result that opens a session has the first values. Updates and responses report later changes (ACP v1, session
 * modes and config options; agents/acp/sessions.md, "Models, modes and options").
 */
import { textOf, type Fields } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import { optionOf, readOtherOptions, type SessionOption } from './config-options.ts'
import { readModels, type SessionModels } from './models.ts'
import { readModes, type SessionModes } from './modes.ts'

export interface SessionChoices {
  readonly models: SessionModels
  readonly modes: SessionModes
  readonly options: readonly SessionOption[]
}

/** Reads the result of `session/new`, `session/load`, `session/resume` or `session/fork`. */
export function readChoices(result: unknown): SessionChoices {
  return { models: readModels(result), modes: readModes(result), options: readOtherOptions(result) }
}

/** Returns the choices after a `session/update`; the same object for an update that reports no choices. */
export function updateChoices(choices: SessionChoices, update: Fields): SessionChoices {
  switch (update['sessionUpdate']) {
    case 'current_mode_update': return withMode(choices, textOf(update['currentModeId']))
    case 'config_option_update': return withOptions(choices, update)
    default: return choices
  }
}

export function withModel(choices: SessionChoices, model: string | undefined): SessionChoices {
  return model === choices.models.current ? choices : { ...choices, models: { ...choices.models, current: model } }
}

/** Returns the choices with a new value of an option. Not every agent repeats the value in its response. */
export function withOption(choices: SessionChoices, { id }: SessionOption, value: string): SessionChoices {
  const set = (option: SessionOption): SessionOption => {
    if (option.id !== id) return option
    return { ...option, current: value, shown: { ...option.shown, current_value: value } }
  }
  return { ...choices, options: choices.options.map(set) }
}

/** Returns the choices with another current mode; the same object if `mode` is undefined or current. */
export function withMode(choices: SessionChoices, mode: string | undefined): SessionChoices {
  if (mode === undefined || mode === choices.modes.current) return choices
  return { ...choices, modes: { ...choices.modes, current: mode } }
}

/** Returns the choices as members of `agent_state` (contract/conversations.md, section 11). */
export function choicesState({ models, modes, options }: SessionChoices): JsonObject {
  return {
    acp_current_model_id: models.current ?? null,
    acp_available_models: [...models.available],
    acp_supports_runtime_model_switch: models.via !== undefined,
    acp_current_mode_id: modes.current ?? null,
    acp_available_modes: [...modes.available],
    acp_config_options: options.map(({ shown }) => shown),
  }
}

/** Returns the choices with the `configOptions` of an update or response. An empty or missing list changes nothing. */
export function withOptions(choices: SessionChoices, update: Fields): SessionChoices {
  if (!Array.isArray(update['configOptions']) || update['configOptions'].length === 0) return choices
  const moved = withMode(choices, textOf(optionOf('mode', update)?.['currentValue']))
  const models = readModels(update)
  const options = readOtherOptions(update)
  return { ...moved, options, ...(models.via === undefined ? {} : { models }) }
}
