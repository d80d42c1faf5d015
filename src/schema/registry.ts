/** Collects the schema definitions in `spec/`: those of the core, without the parts. */
import type { Definitions, ObjectSchema } from './spec/define.ts'
import { actions } from './spec/actions.ts'
import { agentDefinitions } from './spec/agent-definitions.ts'
import { api } from './spec/api.ts'
import { conversations } from './spec/conversations.ts'
import { events } from './spec/events.ts'
import { hooks } from './spec/hooks.ts'
import { llm } from './spec/llm.ts'
import { observations } from './spec/observations.ts'
import { profiles } from './spec/profiles.ts'
import { secrets } from './spec/secrets.ts'
import { settings } from './spec/settings.ts'
import { tools } from './spec/tools.ts'
import { values } from './spec/values.ts'

/** The definitions by file name: from each entry the generator makes the file of that name in `generated/`. */
export const specFiles: Readonly<Record<string, Definitions>> = {
  values,
  actions,
  observations,
  tools,
  events,
  secrets,
  llm,
  profiles,
  settings,
  hooks,
  'agent-definitions': agentDefinitions,
  conversations,
  api,
}

export const registry: Definitions = Object.fromEntries(
  Object.values(specFiles).flatMap((definitions) => Object.entries(definitions)),
)

/** Names a schema type. `definitions`: those of the part (src/parts) that defines it; absent for a type of the core. */
export interface NamedType {
  readonly name: string
  readonly definitions?: Definitions
}

/** Returns the values of a union's tag that select this variant. */
export function tagValues(variant: ObjectSchema, tag: string): readonly string[] {
  const schema = variant.members[tag]?.schema
  if (schema?.type === 'constant') return [schema.value]
  if (schema?.type === 'enumeration') return schema.values
  throw new TypeError(`A variant must have a constant or an enumeration as its member "${tag}"`)
}
