/**
 * Makes the views of agent settings and profiles for the header `X-Expose-Secrets` (contract/settings.md, section 1):
 * secrets are redacted, sealed (encrypted) or plain.
 *
 * `acp_command` is shown as the command that `resolveAcp` returns (decisions 21).
 */
import { AppError, assertNever } from '../base/errors.ts'
import type { AgentSettings } from '../schema/generated/settings.ts'
import { asAgentSettings } from './agent-settings.ts'
import type { Cipher } from './cipher.ts'
import { resolveAcp } from './providers.ts'
import type { Provider } from './provider.ts'
import { mapSecrets, sealSecrets, type SecretType } from './secret-fields.ts'
import { redactedValue } from './secret-values.ts'

export type ExposeMode = 'redacted' | 'encrypted' | 'plaintext'

/**
 * Returns the mode for the value of `X-Expose-Secrets`. Returns `redacted` without the header.
 * @throws AppError `bad_request` for an unknown value.
 */
export function parseExposeMode(header: string | undefined): ExposeMode {
  const value = header?.trim().toLowerCase()
  switch (value) {
    case undefined:
      return 'redacted'
    case 'true':
    case 'encrypted':
      return 'encrypted'
    case 'plaintext':
      return 'plaintext'
    default:
      throw new AppError('bad_request', 'Invalid X-Expose-Secrets header: expected "encrypted" or "plaintext"')
  }
}

export interface ExposeContext {
  readonly cipher: Cipher
  readonly providers: readonly Provider[]
}

export function exposeAgentSettings(settings: AgentSettings, mode: ExposeMode, context: ExposeContext): AgentSettings {
  const { cipher, providers } = context
  const shown = asAgentSettings(exposeSecrets('AgentSettings', settings, mode, cipher))
  return shown.agent_kind === 'acp' ? { ...shown, acp_command: resolveAcp(shown, providers).command } : shown
}

/** Returns a value of the schema type `type` with its secrets in the form of `mode`. */
export function exposeSecrets(type: SecretType, value: unknown, mode: ExposeMode, cipher: Cipher): unknown {
  switch (mode) {
    case 'redacted':
      return mapSecrets(type, value, () => redactedValue)
    case 'encrypted':
      return sealSecrets(type, value, cipher)
    case 'plaintext':
      return mapSecrets(type, value, (secret) => secret)
    default:
      return assertNever(mode)
  }
}
