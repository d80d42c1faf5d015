/**
 * The models that clients can name.
 *
 * `openhands` is the agent of the stored settings. `openhands_<name>` is the built-in agent with the LLM profile
 * `<name>` and the stored settings. If these settings are of an external agent, only their `agent_context` is used.
 */
import { AppError } from '../../base/errors.ts'
import { toJsonObject, type JsonObject } from '../../base/json.ts'
import type { Core } from '../../capabilities.ts'
import { asAgentSettings } from '../../settings/agent-settings.ts'

export type ModelSources = Pick<Core, 'settings' | 'llmProfiles'>

const stored = 'openhands'
const prefix = 'openhands_'

export interface Model {
  readonly id: string
  readonly object: 'model'
  readonly created: 0
  readonly owned_by: 'openhands'
}

export async function listModels({ llmProfiles }: ModelSources): Promise<readonly Model[]> {
  const names = (await llmProfiles.list()).map(({ name }) => `${prefix}${name}`)
  return [stored, ...names].sort().map((id) => ({ id, object: 'model', created: 0, owned_by: 'openhands' }))
}

/** Returns the model with an id. @throws AppError `not_found` */
export async function findModel(id: string, sources: ModelSources): Promise<Model> {
  const model = (await listModels(sources)).find((one) => one.id === id)
  if (model === undefined) throw new AppError('not_found', `The model "${id.slice(0, 100)}" does not exist`)
  return model
}

/**
 * Returns the agent settings of the model `id`. The texts in `system` follow the stored `system_message_suffix`.
 * @throws the errors of `settings.get` and `llmProfiles.load`
 */
export async function settingsFor(
  id: string, system: readonly string[], { settings, llmProfiles }: ModelSources,
): Promise<JsonObject> {
  const { agent_settings: own } = await settings.get()
  const context = { ...own.agent_context }
  const texts = [context.system_message_suffix ?? '', ...system].filter((text) => text.trim() !== '')
  const suffix = { system_message_suffix: texts.join('\n\n') }
  const agent_context = texts.length === 0 ? own.agent_context : { ...context, ...suffix }
  if (id === stored) return toJsonObject({ ...own, agent_context })
  const llm = { ...(await llmProfiles.load(id.slice(prefix.length))), stream: true }
  const base = own.agent_kind === 'acp' ? {} : own
  const more = agent_context === null ? {} : { agent_context }
  return toJsonObject(asAgentSettings({ ...base, ...more, agent_kind: 'openhands', llm }))
}
