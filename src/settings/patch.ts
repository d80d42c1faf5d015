/** Decodes stored settings, and applies a client's patches to settings (contract/settings.md, section 2). */
import { AppError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { LLM } from '../schema/generated/llm.ts'
import {
  isConversationSettings, isSettingsFile, toConversationSettings, toSettingsFile,
  type ConversationSettings, type SettingsFile, type SettingsPatch,
} from '../schema/generated/settings.ts'
import {
  applyAgentDiff, freshAgentSettings, newerVersion, readAgentSettings, settingsFailure, withoutKeysOfOldPlace,
  type AgentSettingsContext,
} from './agent-settings.ts'
import { storedModel } from '../schema/spec/llm.ts'
import type { Cipher } from './cipher.ts'
import { mergeFields } from './merge.ts'

/** The stored settings, with plain secrets. */
export type Settings = Omit<SettingsFile, 'version'>

/** Returns the agent settings for a request that names no agent. */
export type StoredAgent = () => Promise<Pick<Settings, 'agent_settings'>>

/** Returns the LLM of a profile. @throws the errors of `ProfileStore.load` */
export type LoadProfile = (name: string) => Promise<LLM>

export interface PatchContext extends AgentSettingsContext {
  readonly loadProfile: LoadProfile
}

/** The newest `schema_version` of conversation settings. */
const conversationSettingsVersion = 1

export function freshSettings(): Settings {
  return {
    agent_settings: freshAgentSettings(),
    conversation_settings: toConversationSettings({}),
    active_profile: null,
    active_agent_profile_id: null,
    misc_settings: {},
  }
}

/**
 * Decodes settings from the content of their file.
 * @throws AppError `invalid_input` if the content is not valid or has a newer version, or a token does not open
 */
export function decodeSettings(content: Readonly<Record<string, unknown>>, cipher: Cipher): Settings {
  const file = { ...content, agent_settings: readAgentSettings(withModel(content['agent_settings']), cipher) }
  if (!isSettingsFile(file)) throw settingsFailure()
  const { version: _version, ...settings } = toSettingsFile(file)
  if (settings.conversation_settings.schema_version > conversationSettingsVersion) throw settingsFailure()
  return settings
}

/** Adds the default model to the agent settings of a file, if their `llm` names no model. */
function withModel(settings: unknown): unknown {
  if (!isObject(settings) || !isObject(settings['llm'])) return settings
  return { ...settings, llm: { model: storedModel, ...settings['llm'] } }
}

/**
 * Returns the settings after a patch.
 * @throws AppError `bad_request` for an empty patch; `invalid_input`, with no list of issues, for settings that fail
 * validation; the errors of `loadProfile`
 */
export async function applyPatch(current: Settings, patch: SettingsPatch, context: PatchContext): Promise<Settings> {
  const { agent_settings_diff: agentDiff, conversation_settings_diff: chatDiff, misc_settings_diff: miscDiff } = patch
  const { active_profile = current.active_profile, active_agent_profile_id = current.active_agent_profile_id } = patch
  const { agent_settings: agent, conversation_settings: chat, misc_settings: misc } = current
  const pointers = [patch.active_profile, patch.active_agent_profile_id]
  // A null diff changes nothing, but a null name or id clears the stored one (contract/settings.md, section 2.2).
  if (!agentDiff && !chatDiff && !miscDiff && pointers.every((pointer) => pointer === undefined)) {
    throw new AppError('bad_request', 'Nothing to update: expected at least one member of the settings')
  }
  const nextAgent = agentDiff ? applyAgentDiff(agent, agentDiff, context) : agent
  const profile = patch.active_profile ? await context.loadProfile(patch.active_profile) : undefined
  const takesProfile = profile !== undefined && !Object.hasOwn(agentDiff ?? {}, 'llm')
  return {
    agent_settings: !takesProfile ? nextAgent
      : withoutKeysOfOldPlace(agent, { ...nextAgent, llm: profile }, { ...agentDiff, llm: profile }),
    conversation_settings: chatDiff ? mergeConversation(chat, chatDiff) : chat,
    active_profile,
    active_agent_profile_id,
    misc_settings: miscDiff ? mergeFields(misc, miscDiff) : misc,
  }
}

function mergeConversation(
  current: ConversationSettings,
  diff: Readonly<Record<string, unknown>>,
): ConversationSettings {
  const merged = mergeFields({ ...current }, diff)
  if (!isConversationSettings(merged)) throw settingsFailure()
  const settings = toConversationSettings(merged)
  if (settings.schema_version > conversationSettingsVersion) {
    throw newerVersion(settings.schema_version, conversationSettingsVersion)
  }
  return { ...settings, schema_version: conversationSettingsVersion }
}
