/**
 * Reads the models that a session offers, and makes the request that selects a model. Pure.
 *
 * The models are in the config option for the model, or in the older member `models` (agents/acp/sessions.md,
 * "Models, modes and options").
 */
import { memberAt, objectsOf, textOf } from '../../../base/fields.ts'
import type { JsonObject } from '../../../base/json.ts'
import { flatOptions, optionOf } from './config-options.ts'

/** How a model is chosen: by the config option `configId`, or by `session/set_model`. */
export type ModelWay = { readonly configId: string } | 'set_model'

export interface SessionModels {
  readonly via: ModelWay | undefined
  readonly current: string | undefined
  /** The offered models in the form of `agent_state.acp_available_models`. */
  readonly available: readonly JsonObject[]
}

/** Reads the models from the result that opened a session, or from an update of its config options. */
export function readModels(result: unknown): SessionModels {
  const option = optionOf('model', result)
  const configId = textOf(option?.['id'])
  if (option !== undefined && configId !== undefined) {
    const offered = flatOptions(option['options'])
    const available = offered.flatMap(({ value, name, description }) => model(value, name, description))
    return { via: { configId }, current: textOf(option['currentValue']), available }
  }
  const listed = objectsOf(memberAt(result, 'models', 'availableModels'))
  if (listed.length === 0) return { via: undefined, current: undefined, available: [] }
  return {
    via: 'set_model',
    current: textOf(memberAt(result, 'models', 'currentModelId')),
    available: listed.flatMap(({ modelId, name, description }) => model(modelId, name, description)),
  }
}

export function modelRequest(
  via: ModelWay,
  sessionId: string,
  modelId: string,
): { readonly method: string; readonly params: object } {
  if (via === 'set_model') return { method: 'session/set_model', params: { sessionId, modelId } }
  return { method: 'session/set_config_option', params: { sessionId, configId: via.configId, value: modelId } }
}

function model(id: unknown, name: unknown, description: unknown): readonly JsonObject[] {
  const model_id = textOf(id)
  if (model_id === undefined) return []
  return [{ model_id, name: textOf(name) ?? null, description: textOf(description) ?? null }]
}
