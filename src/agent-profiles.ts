/**
 * The agent profiles as the core uses them: those of the part that offers them, and none on a server without it.
 */
import { AppError } from './base/errors.ts'
import type { LoadedParts } from './loaded-parts.ts'
import type { AgentProfiles } from './offers.ts'

const none: AgentProfiles = {
  async launch(profileId) {
    throw new AppError('not_found', `Agent profile not found: ${profileId}`)
  },
  usersOf: async () => [],
  renameLlmProfile: async () => undefined,
}

/** The part is loaded with the first call. */
export function agentProfilesOf(parts: Pick<LoadedParts, 'offers' | 'use'>): AgentProfiles {
  const profiles = async (): Promise<AgentProfiles> => {
    return parts.offers('agentProfiles') ? parts.use('agentProfiles') : none
  }
  return {
    launch: async (profileId) => (await profiles()).launch(profileId),
    usersOf: async (llmProfile) => (await profiles()).usersOf(llmProfile),
    renameLlmProfile: async (name, newName) => (await profiles()).renameLlmProfile(name, newName),
  }
}
