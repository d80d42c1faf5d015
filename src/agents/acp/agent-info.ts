/**
 * What an agent says of itself in the answer to `initialize` (ACP v1, initialization), and what is known of its provider.
 *
 * Behaviour that no capability tells was measured and is in `quirks`. It belongs to the provider that the settings chose:
 * the name that an agent gives itself is shown and decides nothing, since a wrapper gives another one. Pure.
 */
import { isObject } from '../../base/json.ts'
import { memberAt, objectOf, textOf, type Fields } from '../../base/fields.ts'
import type { Provider } from '../../settings/providers.ts'
import { quirksOf, type Quirks } from './quirks.ts'
import { readAuthMethods, type AuthMethod } from './sign-in.ts'

/** What `initialize` told. */
export interface AgentInfo {
  readonly name: string
  readonly version: string
  /** True when name and version are those that the provider's entry in the table was measured with. */
  readonly isMeasured: boolean
  readonly takesImages: boolean
  readonly quirks: Quirks
  readonly capabilities: Fields
  /** True for a part of `sessionCapabilities` that is there, as `resume`, `fork`, `close` or `delete`. */
  readonly can: (name: string) => boolean
  readonly authMethods: readonly AuthMethod[]
}

/** True when an agent gives the name and version that the provider's entry in the table was measured with. */
export function isMeasured({ name, version }: { readonly name: string; readonly version: string }, provider: Provider): boolean {
  return name.toLowerCase().includes(provider.prefix) && version === provider.version
}

export function readAgentInfo(result: unknown, provider: Provider | undefined): AgentInfo {
  const { agentInfo, agentCapabilities, authMethods } = objectOf(result)
  const name = textOf(objectOf(agentInfo).name) ?? 'unknown'
  const version = textOf(objectOf(agentInfo).version) ?? 'unknown'
  const capabilities = objectOf(agentCapabilities)
  return {
    name,
    version,
    isMeasured: provider !== undefined && isMeasured({ name, version }, provider),
    takesImages: memberAt(capabilities, 'promptCapabilities', 'image') === true,
    quirks: quirksOf(provider?.name),
    capabilities,
    can: (part) => isObject(memberAt(capabilities, 'sessionCapabilities', part)),
    authMethods: readAuthMethods(authMethods),
  }
}
