/**
 * Deletes and renames LLM profiles. The settings (`active_profile`) and the agent profiles refer to them by name.
 * Renaming changes these names too. A profile that an agent profile names is not deleted. Deleting the active profile
 * sets `active_profile` to null. The routes and the library share these rules.
 */
import { AppError } from '../base/errors.ts'
import type { ProfileStore } from './profiles.ts'
import type { SettingsStore } from './store.ts'

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

/**
 * @throws AppError `conflict` if an agent profile names the profile; the errors of `usersOf`, `ProfileStore.delete`
 * and `SettingsStore.update`
 */
export async function deleteProfile({ profiles, settings, profileUsers }: ProfileParts, name: string): Promise<void> {
  await settings.update(async (current) => {
    const users = await profileUsers.usersOf(name)
    if (users.length > 0) {
      throw new AppError('conflict', `Profile "${name}" is used by the agent profiles ${users.join(', ')}`)
    }
    await profiles.delete(name)
    return current.active_profile === name ? { ...current, active_profile: null } : current
  })
}

/** @throws the errors of `ProfileStore.rename`, `renameLlmProfile` and `SettingsStore.update` */
export async function renameProfile(
  { profiles, settings, profileUsers }: ProfileParts, name: string, newName: string,
): Promise<void> {
  await settings.update(async (current) => {
    await profiles.rename(name, newName)
    await profileUsers.renameLlmProfile(name, newName)
    return current.active_profile === name ? { ...current, active_profile: newName } : current
  })
}
