/**
 * The routes for LLM profiles (contract: settings.md section 7).
 *
 * The settings have the name of the active profile, so a profile is renamed or deleted together with an update of the
 * settings.
 */
import { AppError } from '../base/errors.ts'
import { singleHeader } from '../http/headers.ts'
import type { HttpResponse } from '../http/reply.ts'
import { parameterOf } from '../http/router.ts'
import { isProfileName } from '../schema/generated/llm.ts'
import { RenameProfileRequest, SaveProfileRequest } from '../schema/generated/profiles.ts'
import { parseExposeMode } from '../settings/expose.ts'
import type { ProfileStore } from '../settings/profiles.ts'
import type { SettingsStore } from '../settings/store.ts'
import { bodyOf, invalid, ok, type Call } from './call.ts'
import { assertMayExpose } from './permission.ts'
import { jsonResponse } from './problem.ts'

export interface ProfileParts {
  readonly profiles: ProfileStore
  readonly settings: SettingsStore
  readonly profileUsers: ProfileUsers
}

/** The agent profiles, which may refer to an LLM profile by its name. */
export interface ProfileUsers {
  usersOf(name: string): Promise<readonly string[]>
  renameLlmProfile(name: string, newName: string): Promise<void>
}

export async function listProfiles({ profiles, settings }: ProfileParts): Promise<HttpResponse> {
  const { active_profile } = await settings.get()
  return ok({ profiles: await profiles.list(), active_profile })
}

export async function getProfile({ profiles }: ProfileParts, call: Call): Promise<HttpResponse> {
  const header = singleHeader(call.exchange.request.rawHeaders, 'x-expose-secrets')
  return ok(await profiles.view(profileNameOf(call), assertMayExpose(call, parseExposeMode(header))))
}

export async function saveProfile({ profiles }: ProfileParts, call: Call): Promise<HttpResponse> {
  const name = profileNameOf(call)
  await profiles.save(name, bodyOf(call, SaveProfileRequest))
  return jsonResponse(201, { name, message: `Profile "${name}" saved` })
}

export async function deleteProfile(
  { profiles, settings, profileUsers }: ProfileParts, call: Call,
): Promise<HttpResponse> {
  const name = profileNameOf(call)
  await settings.update(async (current) => {
    const users = await profileUsers.usersOf(name)
    if (users.length > 0) {
      throw new AppError('conflict', `Profile "${name}" is used by the agent profiles ${users.join(', ')}`)
    }
    await profiles.delete(name)
    return current.active_profile === name ? { ...current, active_profile: null } : current
  })
  return ok({ name, message: `Profile "${name}" deleted` })
}

export async function renameProfile(
  { profiles, settings, profileUsers }: ProfileParts, call: Call,
): Promise<HttpResponse> {
  const name = profileNameOf(call)
  const { new_name: newName } = bodyOf(call, RenameProfileRequest)
  await settings.update(async (current) => {
    await profiles.rename(name, newName)
    await profileUsers.renameLlmProfile(name, newName)
    return current.active_profile === name ? { ...current, active_profile: newName } : current
  })
  return ok({ name: newName, message: `Profile "${name}" renamed to "${newName}"` })
}

export async function activateProfile({ settings }: ProfileParts, call: Call): Promise<HttpResponse> {
  const name = profileNameOf(call)
  await settings.patch({ active_profile: name })
  return ok({ name, message: `Profile "${name}" activated`, llm_applied: true })
}

/** Returns the name of the profile in the path. @throws AppError `invalid_input` */
export function profileNameOf(call: Call): string {
  const name = parameterOf(call.parameters, 'name')
  if (isProfileName(name)) return name
  const msg = 'Value error, expected a letter or a digit, then up to 63 letters, digits, dots, dashes or underscores'
  throw invalid([{ type: 'value_error', loc: ['path', 'name'], msg, input: name }])
}
