/**
 * The models that a session offers, and how one is chosen. Pure.
 *
 * The config option `model` is the way of the protocol (Claude, Codex); `models` and `session/set_model` are in no schema
 * any more but the only way that Gemini knows (acp.md, section 1.2). An agent with neither cannot be told.
 */
import type { JsonObject } from '../../base/json.ts'
import { memberAt, objectsOf, textOf, type Fields } from '../../base/fields.ts'

export interface SessionModels {
  readonly via: 'config_option' | 'set_model' | undefined
  readonly current: string | undefined
  /** As `agent_state.acp_available_models` shows them. */
  readonly available: readonly JsonObject[]
}

/** Reads what a session's answer says of models. */
export function readModels(result: unknown): SessionModels {
  const option = objectsOf(memberAt(result, 'configOptions')).find(({ id }) => id === 'model')
  if (option !== undefined) {
    const available = flatOptions(option.options).flatMap(({ value, name, description }) => model(value, name, description))
    return { via: 'config_option', current: textOf(option.currentValue), available }
  }
  const listed = objectsOf(memberAt(result, 'models', 'availableModels'))
  if (listed.length === 0) return { via: undefined, current: undefined, available: [] }
  return {
    via: 'set_model',
    current: textOf(memberAt(result, 'models', 'currentModelId')),
    available: listed.flatMap(({ modelId, name, description }) => model(modelId, name, description)),
  }
}

/** The request that chooses a model. */
export function modelRequest(
  via: 'config_option' | 'set_model',
  sessionId: string,
  modelId: string,
): { readonly method: string; readonly params: object } {
  if (via === 'set_model') return { method: 'session/set_model', params: { sessionId, modelId } }
  return { method: 'session/set_config_option', params: { sessionId, configId: 'model', value: modelId } }
}

/** The options themselves, also where they come in groups. */
function flatOptions(options: unknown): readonly Fields[] {
  return objectsOf(options).flatMap((option) => ('group' in option ? objectsOf(option.options) : [option]))
}

function model(id: unknown, name: unknown, description: unknown): readonly JsonObject[] {
  const model_id = textOf(id)
  if (model_id === undefined) return []
  return [{ model_id, name: textOf(name) ?? null, description: textOf(description) ?? null }]
}
