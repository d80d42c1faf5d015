/**
 * Stores the settings of this server in one file, with a copy in memory (contract/settings.md, sections 1 and 2).
 *
 * Secrets are plain in memory and sealed in the file. They are registered with the masker before the settings are
 * returned.
 */
import { AppError } from '../base/errors.ts'
import type { Masker } from '../base/masking.ts'
import type { SettingsPatch, SettingsResponse } from '../schema/generated/settings.ts'
import type { TellChange } from './change-log.ts'
import type { Cipher } from './cipher.ts'
import { exposeAgentSettings, type ExposeMode } from './expose.ts'
import { createMaskedValues } from './masked-values.ts'
import { applyPatch, decodeSettings, freshSettings, type LoadProfile, type Settings } from './patch.ts'
import { profileNotFound } from './profiles.ts'
import type { Provider } from './provider.ts'
import { sealSecrets, secretsToMask } from './secret-fields.ts'
import { isUnset } from './secret-values.ts'
import { createStoredFile, type Changes } from './stored-file.ts'

/** Every method throws AppError `settings_unreadable` when the file cannot be read. */
export interface SettingsStore {
  /** Returns the settings with plain secrets. */
  get(): Promise<Settings>
  view(mode: ExposeMode): Promise<SettingsResponse>
  /**
   * Applies a patch and returns the redacted view. `check` gets the settings before the patch, and throws an error to
   * refuse the patch.
   * @throws the errors of `applyPatch`, `check` and `StoredFile.update`; AppError `invalid_input` also above
   * `limitChars`. After an error, the store keeps the old settings.
   */
  patch(request: SettingsPatch, check?: (current: Settings) => void): Promise<SettingsResponse>
  /**
   * Replaces the settings by the result of `change`. Waits until all earlier changes of the settings have ended.
   * @throws the errors of `change` and `StoredFile.update`; AppError `invalid_input` above `limitChars`
   */
  update(change: (current: Settings) => Settings | Promise<Settings>): Promise<Settings>
  /** Seals every secret in the file again with the sealing key. @throws the errors of `StoredFile.rewrite` */
  reseal(): Promise<void>
}

export interface SettingsStoreOptions {
  readonly onChange?: TellChange
  readonly changes?: Changes
  /** The path of `settings.json` in the data folder. */
  readonly path: string
  readonly cipher: Cipher
  readonly masker: Masker
  readonly providers: readonly Provider[]
  /** Loads an LLM profile. By default, there are no profiles. */
  readonly loadProfile?: LoadProfile
  /** The most characters of the settings as JSON. Default: 4,194,304. */
  readonly limitChars?: number
}

const version = 1

export function createSettingsStore(options: SettingsStoreOptions): SettingsStore {
  const { path, cipher, masker, providers, loadProfile = noProfile, limitChars = 4_194_304 } = options
  const setMasked = createMaskedValues(masker)
  const mask = ({ agent_settings: agent }: Settings): void => setMasked('agent', secretsToMask('AgentSettings', agent))
  const file = createStoredFile<Settings>({
    onChange: options.onChange,
    changes: options.changes,
    path,
    version,
    keyIds: cipher.keyIds,
    initial: freshSettings,
    encode: ({ agent_settings: agent, ...rest }) => ({
      agent_settings: sealSecrets('AgentSettings', agent, cipher),
      ...rest,
    }),
    decode: (content) => decodeSettings(content, cipher),
    mask,
  })
  const update: SettingsStore['update'] = (change) =>
    file.update(async (current) => {
      const next = await change(current)
      if (next === current) return current
      if (JSON.stringify(next).length > limitChars) {
        const expected = `expected at most ${limitChars} characters of JSON`
        throw new AppError('invalid_input', `Cannot store the settings: ${expected}`)
      }
      mask(next)
      return next
    })
  const show = (settings: Settings, mode: ExposeMode): SettingsResponse => ({
    agent_settings: exposeAgentSettings(settings.agent_settings, mode, { cipher, providers }),
    conversation_settings: settings.conversation_settings,
    llm_api_key_is_set: !isUnset(settings.agent_settings.llm.api_key ?? ''),
    active_profile: settings.active_profile,
    active_agent_profile_id: settings.active_agent_profile_id,
    misc_settings: settings.misc_settings,
  })

  return {
    get: () => file.read(),
    view: async (mode) => show(await file.read(), mode),
    async patch(request, check) {
      const context = { cipher, providers, loadProfile }
      const patched = await update((current) => {
        check?.(current)
        return applyPatch(current, request, context)
      })
      return show(patched, 'redacted')
    },
    update,
    reseal: () => file.rewrite(),
  }
}

async function noProfile(name: string): Promise<never> {
  throw profileNotFound(name)
}
