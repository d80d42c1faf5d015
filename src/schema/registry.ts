/** Collects the definitions of `spec/` by name, for code that looks types up by name. */
import type { Definitions, ObjectSchema } from './spec/define.ts'
import { absent } from './spec/absent.ts'
import { actions } from './spec/actions.ts'
import { agentProfiles } from './spec/agent-profiles.ts'
import { api } from './spec/api.ts'
import { bash } from './spec/bash.ts'
import { consoleTypes } from './spec/console.ts'
import { keyTypes } from './spec/keys.ts'
import { conversations } from './spec/conversations.ts'
import { events } from './spec/events.ts'
import { files } from './spec/files.ts'
import { git } from './spec/git.ts'
import { hooks } from './spec/hooks.ts'
import { llm } from './spec/llm.ts'
import { mcp } from './spec/mcp.ts'
import { models } from './spec/models.ts'
import { observations } from './spec/observations.ts'
import { openai } from './spec/openai.ts'
import { profiles } from './spec/profiles.ts'
import { secrets } from './spec/secrets.ts'
import { settings } from './spec/settings.ts'
import { skills } from './spec/skills.ts'
import { tools } from './spec/tools.ts'
import { values } from './spec/values.ts'
import { webhooks } from './spec/webhooks.ts'

/** The definitions by file: the generator makes a file of this name under `generated/` from each entry. */
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
  'agent-profiles': agentProfiles,
  mcp,
  models,
  absent,
  hooks,
  skills,
  files,
  git,
  bash,
  console: consoleTypes,
  keys: keyTypes,
  webhooks,
  openai,
  conversations,
  api,
}

export const registry: Definitions = {
  ...values,
  ...actions,
  ...observations,
  ...tools,
  ...events,
  ...secrets,
  ...llm,
  ...profiles,
  ...settings,
  ...agentProfiles,
  ...mcp,
  ...models,
  ...absent,
  ...hooks,
  ...skills,
  ...files,
  ...git,
  ...bash,
  ...consoleTypes,
  ...keyTypes,
  ...webhooks,
  ...openai,
  ...conversations,
  ...api,
}

/** Returns the values of a union's tag that select this variant. */
export function tagValues(variant: ObjectSchema, tag: string): readonly string[] {
  const schema = variant.members[tag]?.schema
  if (schema?.type === 'constant') return [schema.value]
  if (schema?.type === 'enumeration') return schema.values
  throw new TypeError(`A variant must have a constant or an enumeration as its member "${tag}"`)
}
