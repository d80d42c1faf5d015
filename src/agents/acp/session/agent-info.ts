/**
 * Reads the description of an external agent from the result of `initialize` (ACP v1, initialization). Pure.
 *
 * `quirks` (special behaviour) depend on the provider in the settings, because a wrapper may change the agent's name.
 */
import { memberAt, objectOf, textOf, type Fields } from '../../../base/fields.ts'
import { isObject } from '../../../base/json.ts'
import type { Provider } from '../../../settings/providers.ts'
import { quirksOf, type Quirks } from './quirks.ts'
import { readAuthMethods, type AuthMethod } from './sign-in.ts'

/** The description of an agent, from the result of `initialize` and from its provider. */
export interface AgentInfo {
  readonly name: string
  readonly version: string
  /** True if the agent has a name and version with which the provider's data was tested (`isMeasured`). */
  readonly isMeasured: boolean
  readonly takesImages: boolean
  readonly quirks: Quirks
  readonly capabilities: Fields
  /** True when `sessionCapabilities` has a member with this name that is an object, such as `resume` or `fork`. */
  readonly can: (name: string) => boolean
  readonly authMethods: readonly AuthMethod[]
}

/** True if the agent has the tested version, and its name in lower case contains `Provider.prefix`. */
export function isMeasured(
  { name, version }: { readonly name: string; readonly version: string },
  provider: Provider,
): boolean {
  return name.toLowerCase().includes(provider.prefix) && version === provider.version
}

export function readAgentInfo(result: unknown, provider: Provider | undefined): AgentInfo {
  const { agentInfo, agentCapabilities, authMethods } = objectOf(result)
  const name = textOf(objectOf(agentInfo)['name']) ?? 'unknown'
  const version = textOf(objectOf(agentInfo)['version']) ?? 'unknown'
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
