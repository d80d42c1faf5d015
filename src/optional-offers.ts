/** Wraps the offers of optional parts, so that the core also works without these parts. */
import { AppError } from './base/errors.ts'
import type { LoadedParts } from './loaded-parts.ts'
import type { AgentProfiles, Extensions, ProviderConnections, Worktrees } from './offers.ts'

type Parts = Pick<LoadedParts, 'offers' | 'use'>

const noProfiles: AgentProfiles = {
  async launch(profileId) {
    throw new AppError('not_found', `Agent profile not found: ${profileId}`)
  },
  usersOf: async () => [],
  renameLlmProfile: async () => undefined,
}

/** Returns the offer `agentProfiles`. Without a part that has it, there are no agent profiles. */
export function agentProfilesOf(parts: Parts): AgentProfiles {
  const profiles = async (): Promise<AgentProfiles> => {
    return parts.offers('agentProfiles') ? parts.use('agentProfiles') : noProfiles
  }
  return {
    launch: async (profileId) => (await profiles()).launch(profileId),
    usersOf: async (llmProfile) => (await profiles()).usersOf(llmProfile),
    renameLlmProfile: async (name, newName) => (await profiles()).renameLlmProfile(name, newName),
  }
}

/** Returns the functions for worktrees. Without the part `git` they do nothing. */
export function worktreesOf(parts: Parts): Worktrees {
  const worktrees = async (): Promise<Worktrees | undefined> => {
    return parts.offers('worktrees') ? parts.use('worktrees') : undefined
  }
  return {
    create: async (id, folder) => (await worktrees())?.create(id, folder),
    release: async (folder, isUsed) => (await worktrees())?.release(folder, isUsed),
    releaseLeft: async (isUsed) => (await worktrees())?.releaseLeft(isUsed),
  }
}

/** Returns the provider connections. `parts` is a function, because the parts are made after this call. */
export function providerConnectionsOf(parts: () => Parts): ProviderConnections {
  return {
    async find(id) {
      return parts().offers('providerConnections') ? (await parts().use('providerConnections')).find(id) : undefined
    },
  }
}

/** Returns the function that loads plugins. Without `extensions`, it refuses named plugins with `part_missing`. */
export function pluginsOf(parts: Parts): Extensions['pluginsFor'] {
  return async (request) => {
    const isWanted = request.named.length > 0 || (request.withInstalled && parts.offers('extensions'))
    if (!isWanted) return { skills: [], hooks: [], agents: [], servers: {} }
    return (await parts.use('extensions')).pluginsFor(request)
  }
}
