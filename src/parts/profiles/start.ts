/** Starts the part `profiles`: the routes of agent profiles, and their use at the start of a conversation. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { changeLog } from '../../settings/change-log.ts'
import { profiles } from './part.ts'
import { resolveProfile, type ProfileSources } from './resolve.ts'
import * as routes from './routes.ts'
import { createAgentProfileStore, llmProfileOf } from './store.ts'

export function start(core: Needs): Started<typeof profiles> {
  const { dataDir, cipher, masker, log, settings, llmProfiles } = core
  const onChange = changeLog(log, 'Agent profiles were changed')
  const path = join(dataDir, profiles.sealedFile.name)
  const store = createAgentProfileStore({ path, cipher, masker, onChange, createId: randomUUID })
  const sources = sourcesOf(core)
  return {
    handlers: handlersOf({ store, settings, llmProfiles, sources, cipher }),
    offers: {
      agentProfiles: {
        async launch(id) {
          const profile = await routes.profileWithId(store, id)
          const agent_settings = await resolveProfile(profile, sources)
          return { agent_settings, launched: { agent_profile_id: profile.id, revision: profile.revision } }
        },
        async usersOf(llmProfile) {
          return (await store.list()).filter((one) => llmProfileOf(one) === llmProfile).map(({ name }) => name)
        },
        renameLlmProfile: (name, newName) => store.renameLlmProfile(name, newName),
      },
    },
  }
}

type Needs = Lent<typeof profiles>

function sourcesOf({ settings, llmProfiles, providers, cipher, usableTools, use, offers }: Needs): ProfileSources {
  return {
    agentSettings: async () => (await settings.get()).agent_settings,
    loadLlm: (name) => llmProfiles.load(name),
    usableTools,
    skillNames: async () => (offers('skills') ? (await use('skills')).userSkillNames() : []),
    cipher,
    providers,
  }
}

function handlersOf(parts: routes.AgentProfileParts): Record<keyof typeof profiles.routes, PartHandler> {
  return {
    'GET /api/agent-profiles': (call) => routes.listAgentProfiles(parts, call),
    'GET /api/agent-profiles/{name}': (call) => routes.getAgentProfile(parts, call),
    'POST /api/agent-profiles/{name}': (call) => routes.saveAgentProfile(parts, call),
    'DELETE /api/agent-profiles/{name}': (call) => routes.deleteAgentProfile(parts, call),
    'POST /api/agent-profiles/{name}/rename': (call) => routes.renameAgentProfile(parts, call),
    'POST /api/agent-profiles/{profile_id}/activate': (call) => routes.activateAgentProfile(parts, call),
    'POST /api/agent-profiles/{name}/materialize': (call) => routes.materializeAgentProfile(parts, call),
  }
}
