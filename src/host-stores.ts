/**
 * The settings, secrets and LLM profiles for a host that uses the server as a library.
 *
 * Input is checked as in the REST routes. Output has no plain secrets. A change throws AppError `unavailable` when the
 * server is closed.
 */
import { checked } from './schema/check.ts'
import { LLM, type LLMInput } from './schema/generated/llm.ts'
import type { ProfileSummary } from './schema/generated/profiles.ts'
import { SecretWrite } from './schema/generated/secrets.ts'
import { SettingsPatch, type SettingsResponse } from './schema/generated/settings.ts'
import { deleteProfile, type ProfileParts } from './settings/profile-changes.ts'
import type { SecretStore } from './settings/secrets.ts'
import type { SettingsStore } from './settings/store.ts'

/** The settings for new conversations. Each method may throw AppError `settings_unreadable`. */
export interface HostSettings {
  /** Returns the settings with their secrets redacted. */
  view(): Promise<SettingsResponse>
  /**
   * Changes the settings as `PATCH /api/settings` does.
   * @throws AppError `invalid_input`; the errors of `SettingsStore.patch`
   */
  patch(patch: SettingsPatch): Promise<SettingsResponse>
}

/** The global secrets. An external agent gets all. A command of the built-in agent gets the secrets that it names. */
export type HostSecrets = Pick<SecretStore, 'list' | 'put' | 'delete'>

/** The stored LLM profiles: LLM settings with a name. */
export interface HostProfiles {
  list(): Promise<readonly ProfileSummary[]>
  /**
   * Adds or replaces a profile, with its API key.
   * @throws AppError `invalid_input`; the errors of `ProfileStore.save`
   */
  save(name: string, llm: LLMInput): Promise<void>
  /**
   * Removes a profile, and its name from the settings. Does nothing for an unknown name.
   * @throws AppError `conflict` for a profile that an agent profile names
   */
  delete(name: string): Promise<void>
}

interface Reserve {
  /** Makes sure that disk space is reserved for recording the ends of runs. @throws AppError, such as `storage_full` */
  ensureHeld(): Promise<void>
}

export function hostSettings(settings: SettingsStore, reserve: Reserve): HostSettings {
  return {
    view: () => settings.view('redacted'),
    async patch(patch) {
      const wanted = checked(SettingsPatch, patch)
      await reserve.ensureHeld()
      return settings.patch(wanted)
    },
  }
}

export function hostSecrets(secrets: SecretStore, reserve: Reserve): HostSecrets {
  return {
    list: () => secrets.list(),
    async put(secret) {
      const wanted = checked(SecretWrite, secret)
      await reserve.ensureHeld()
      return secrets.put(wanted)
    },
    delete: (name) => secrets.delete(name),
  }
}

export function hostProfiles(parts: ProfileParts): HostProfiles {
  const { profiles } = parts
  return {
    list: () => profiles.list(),
    save: async (name, llm) => profiles.save(name, { llm: checked(LLM, llm), include_secrets: true }),
    delete: (name) => deleteProfile(parts, name),
  }
}
