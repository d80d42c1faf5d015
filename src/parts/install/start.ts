/** Starts the part `install`, and a check of all digests of the installed agents in the background. */
import type { Core } from '../../capabilities.ts'
import type { StartedPart } from '../../part.ts'
import { agentsFolderIn } from './folder.ts'
import { InstalledAgents } from './installed-agents.ts'

export function start({ dataDir, log, clock }: Pick<Core, 'dataDir' | 'log' | 'clock'>): StartedPart {
  const installedAgents = new InstalledAgents({ agentsDir: agentsFolderIn(dataDir), log, clock })
  installedAgents.check()
  return { offers: { installedAgents }, close: () => installedAgents.close() }
}
