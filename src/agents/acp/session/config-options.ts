/**
 * Reads the options of a session: its mode, its model and the other choices of the agent (ACP v1, session config
 * options; agents/acp/sessions.md, "Models, modes and options"). Pure.
 *
 * The category of an option says whether it selects the mode or the model. In older agents, which send no categories,
 * the option has the id `mode` or `model`.
 */
import { memberAt, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'

export interface SessionOption {
  readonly id: string
  readonly category: string | undefined
  readonly current: string | undefined
  readonly values: readonly string[]
  /** True when the option's value on the wire is a boolean. */
  readonly isBoolean: boolean
  /** The option's form in `agent_state.acp_config_options`. */
  readonly shown: JsonObject
}

/** Finds the option that selects the mode or the model; undefined without such an option. */
export function optionOf(kind: 'mode' | 'model', result: unknown): Fields | undefined {
  const options = objectsOf(memberAt(result, 'configOptions'))
  return options.find(({ category }) => category === kind) ?? options.find(({ id }) => id === kind)
}

/** Reads the options other than mode and model. Leaves out options that this server cannot set (`readOption`). */
export function readOtherOptions(result: unknown): readonly SessionOption[] {
  const known = [optionOf('mode', result), optionOf('model', result)]
  return objectsOf(memberAt(result, 'configOptions')).filter((option) => !known.includes(option)).flatMap(readOption)
}

/** Returns the choices of a config option (ACP's `options`) as a flat list: each group is replaced by its choices. */
export function flatOptions(options: unknown): readonly Fields[] {
  return objectsOf(options).flatMap((option) => ('group' in option ? objectsOf(option['options']) : [option]))
}

export function optionRequest(
  { id: configId, isBoolean }: SessionOption,
  sessionId: string,
  value: string,
): { readonly method: string; readonly params: object } {
  const chosen = isBoolean ? { type: 'boolean', value: value === 'true' } : { value }
  return { method: 'session/set_config_option', params: { sessionId, configId, ...chosen } }
}

const booleans = [{ value: 'true' }, { value: 'false' }]

function readOption(option: Fields): readonly SessionOption[] {
  const id = textOf(option['id'])
  const isBoolean = option['type'] === 'boolean'
  if (id === undefined || (option['type'] !== undefined && option['type'] !== 'select' && !isBoolean)) return []
  const current = isBoolean ? String(option['currentValue'] === true) : textOf(option['currentValue'])
  const category = textOf(option['category'])
  const values = flatOptions(isBoolean ? booleans : option['options'])
  const listed = values.flatMap(({ value, name, description }): readonly JsonObject[] => {
    const shown = textOf(value)
    if (shown === undefined) return []
    return [{ value: shown, name: textOf(name) ?? null, description: textOf(description) ?? null }]
  })
  const shown = {
    option_id: id,
    name: textOf(option['name']) ?? null,
    description: textOf(option['description']) ?? null,
    category: category ?? null,
    current_value: current ?? null,
    values: listed,
  }
  return [{ id, category, current, isBoolean, values: listed.flatMap(({ value }) => textOf(value) ?? []), shown }]
}
