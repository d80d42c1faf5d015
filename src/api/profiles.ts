/** The routes for LLM profiles (contract/settings.md, section 7). */
import { singleHeader } from '../http/headers.ts'
import type { HttpResponse } from '../http/reply.ts'
import { parameterOf } from '../http/router.ts'
import { RenameProfileRequest, SaveProfileRequest } from '../schema/generated/profiles.ts'
import { parseExposeMode } from '../settings/expose.ts'
import * as changes from '../settings/profile-changes.ts'
import { assertProfileName } from '../settings/profiles.ts'
import { bodyOf, ok, type Call } from './call.ts'
import { assertMayExpose } from './permission.ts'
import { jsonResponse } from './problem.ts'

export type ProfileParts = changes.ProfileParts

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

export async function deleteProfile(parts: ProfileParts, call: Call): Promise<HttpResponse> {
  const name = profileNameOf(call)
  await changes.deleteProfile(parts, name)
  return ok({ name, message: `Profile "${name}" deleted` })
}

export async function renameProfile(parts: ProfileParts, call: Call): Promise<HttpResponse> {
  const name = profileNameOf(call)
  const { new_name: newName } = bodyOf(call, RenameProfileRequest)
  await changes.renameProfile(parts, name, newName)
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
  assertProfileName(name, ['path', 'name'])
  return name
}
