/**
 * What an agent says of itself in the answer to `initialize` (ACP v1, initialization), and what follows from its name.
 *
 * Behaviour that no capability tells was measured (acp.md, section 3) and is known by the name of the agent alone. Pure.
 */
import { isObject } from '../../base/json.ts'
import { memberAt, objectOf, textOf, type Fields } from '../../base/fields.ts'
import { readAuthMethods, type AuthMethod } from './sign-in.ts'

/** What `initialize` told. */
export interface AgentInfo {
  readonly name: string
  readonly version: string
  readonly takesImages: boolean
  /** Commands are told by the title of a call alone. */
  readonly titleIsCommand: boolean
  /** Failures of the model's API show only as `usage: null` or a thread status (acp.md, 3.5). */
  readonly hidesFailures: boolean
  readonly capabilities: Fields
  /** True for a part of `sessionCapabilities` that is there, as `resume`, `fork`, `close` or `delete`. */
  readonly can: (name: string) => boolean
  readonly authMethods: readonly AuthMethod[]
}

export function readAgentInfo(result: unknown): AgentInfo {
  const { agentInfo, agentCapabilities, authMethods } = objectOf(result)
  const name = textOf(objectOf(agentInfo).name) ?? 'unknown'
  const capabilities = objectOf(agentCapabilities)
  return {
    name,
    version: textOf(objectOf(agentInfo).version) ?? 'unknown',
    takesImages: memberAt(capabilities, 'promptCapabilities', 'image') === true,
    titleIsCommand: name === 'gemini-cli',
    hidesFailures: name.includes('codex-acp'),
    capabilities,
    can: (part) => isObject(memberAt(capabilities, 'sessionCapabilities', part)),
    authMethods: readAuthMethods(authMethods),
  }
}
