/**
 * REST handlers for agent profiles (contract/settings.md, section 8).
 *
 * The settings hold the id of the active profile, which clients offer first. If no profile is stored and none is
 * active, a GET of the list makes the first profile from the settings.
 */
import type { HttpResponse } from '../../http/reply.ts'
import { parameterOf } from '../../http/router.ts'
import { AgentProfile, type AgentProfileSummary } from './generated.ts'
import { RenameProfileRequest } from '../../schema/generated/profiles.ts'
import type { Cipher } from '../../settings/cipher.ts'
import type { SettingsStore } from '../../settings/store.ts'
import { bodyOf, ok, type Call } from '../../api/call.ts'
import { jsonResponse } from '../../api/problem.ts'
import { profileNameOf } from '../../api/profiles.ts'
import { diagnose, type ProfileSources } from './resolve.ts'
import { firstName, firstProfile, type LlmProfiles } from './seed.ts'
import { llmProfileOf, profileNotFound, shownProfile, type AgentProfileStore, type StoredProfile } from './store.ts'

export interface AgentProfileParts {
  readonly store: AgentProfileStore
  readonly settings: Pick<SettingsStore, 'get' | 'update'>
  readonly llmProfiles: LlmProfiles
  readonly sources: ProfileSources
  readonly cipher: Cipher
}

export async function listAgentProfiles(parts: AgentProfileParts, { exchange }: Call): Promise<HttpResponse> {
  const { store, settings } = parts
  if (exchange.request.method === 'GET' && await store.isEmpty()) await makeFirst(parts)
  const { active_agent_profile_id } = await settings.get()
  return ok({ profiles: (await store.list()).map(summary), active_agent_profile_id })
}

export async function getAgentProfile({ store, cipher }: AgentProfileParts, call: Call): Promise<HttpResponse> {
  const name = profileNameOf(call)
  return ok({ name, profile: shownProfile(await store.get(name), cipher) })
}

export async function saveAgentProfile({ store }: AgentProfileParts, call: Call): Promise<HttpResponse> {
  const name = profileNameOf(call)
  await store.save(name, bodyOf(call, AgentProfile))
  return jsonResponse(201, { name, message: `Agent profile "${name}" saved` })
}

export async function deleteAgentProfile({ store, settings }: AgentProfileParts, call: Call): Promise<HttpResponse> {
  const name = profileNameOf(call)
  await settings.update(async (current) => {
    const id = await store.delete(name)
    const isActive = id !== undefined && current.active_agent_profile_id === id
    return isActive ? { ...current, active_agent_profile_id: null } : current
  })
  return ok({ name, message: `Agent profile "${name}" deleted` })
}

export async function renameAgentProfile({ store }: AgentProfileParts, call: Call): Promise<HttpResponse> {
  const name = profileNameOf(call)
  const { new_name: newName } = bodyOf(call, RenameProfileRequest)
  await store.rename(name, newName)
  return ok({ name: newName, message: `Agent profile "${name}" renamed to "${newName}"` })
}

export async function activateAgentProfile({ store, settings }: AgentProfileParts, call: Call): Promise<HttpResponse> {
  const { id } = await profileWithId(store, parameterOf(call.parameters, 'profile_id'))
  await settings.update((current) => {
    return current.active_agent_profile_id === id ? current : { ...current, active_agent_profile_id: id }
  })
  return ok({ id, message: `Agent profile "${id}" activated`, agent_settings_applied: false })
}

export async function materializeAgentProfile(
  { store, sources }: AgentProfileParts, call: Call,
): Promise<HttpResponse> {
  return ok(await diagnose(await store.get(profileNameOf(call)), sources))
}

/** Returns the profile with the id `given`, written with or without dashes. @throws AppError `not_found` */
export async function profileWithId(store: AgentProfileStore, given: string): Promise<StoredProfile> {
  const plain = (id: string): string => id.replaceAll('-', '').toLowerCase()
  const found = (await store.list()).find(({ id }) => plain(id) === plain(given))
  if (found === undefined) throw profileNotFound(`with id "${given}"`)
  return found
}

/**
 * Creates and activates the first profile, if none is stored and none is active. The check and the creation happen in
 * one call of `settings.update`. Such calls run one after the other, so simultaneous requests create only one profile.
 */
async function makeFirst({ store, settings, llmProfiles }: AgentProfileParts): Promise<void> {
  await settings.update(async (current) => {
    if (current.active_agent_profile_id !== null || !(await store.isEmpty())) return current
    const { id } = await store.save(firstName, await firstProfile(current, llmProfiles))
    return { ...current, active_agent_profile_id: id }
  })
}

function summary(profile: StoredProfile): AgentProfileSummary {
  const { id, name, agent_kind, revision, mcp_server_refs } = profile
  return { id, name, agent_kind, revision, llm_profile_ref: llmProfileOf(profile), mcp_server_refs }
}
