/**
 * Reads the definitions of sub-agents in a create request (contract/conversations.md, section 1). Pure.
 *
 * A definition with hooks is refused, because the hooks would not run.
 */
import { AppError } from '../../base/errors.ts'
import type { StartConversationRequest } from '../../schema/generated/conversations.ts'
import type { AgentDefinition } from '../../schema/generated/agent-definitions.ts'
import type { AgentKind } from '../agent/agent.ts'

/**
 * Returns the definitions of sub-agents in the request. An external agent gets none.
 * @throws AppError `invalid_input` for a definition with hooks, and for two definitions with one name
 */
export function definitionsOf(
  { agent_definitions: definitions }: StartConversationRequest, kind: AgentKind,
  tellIgnored: (member: string) => void,
): readonly AgentDefinition[] {
  const names = definitions.map(({ name }) => name)
  const double = names.find((name, place) => names.indexOf(name) < place)
  if (double !== undefined) throw unusable(double, 'it is there twice')
  const guarded = definitions.find(({ hooks }) => Object.values(hooks ?? {}).some(isFilled))
  if (guarded !== undefined) throw unusable(guarded.name, 'it has hooks; expected them in "hook_config" of the request')
  if (definitions.length === 0 || kind.takesAdditions) return definitions
  tellIgnored('agent_definitions')
  return []
}

/** Joins the definitions of plugins and of the request. Of several definitions with one name the last is used. */
export function joinedDefinitions(
  fromPlugins: readonly AgentDefinition[], ofRequest: readonly AgentDefinition[],
): readonly AgentDefinition[] {
  return [...new Map([...fromPlugins, ...ofRequest].map((definition) => [definition.name, definition])).values()]
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null
}

function unusable(name: string, why: string): AppError {
  return new AppError('invalid_input', `Cannot use the definition of the sub-agent "${name}": ${why}`)
}
