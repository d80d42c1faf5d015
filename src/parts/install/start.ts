/** Starts the part `install`, and a check of all digests of the installed agents in the background. */
import type { Lent, PartHandler, Started } from '../../part.ts'
import { agentsFolderIn } from './folder.ts'
import { InstalledAgents } from './installed-agents.ts'
import { InstallJobs } from './jobs.ts'
import type { install } from './part.ts'

export function start({ dataDir, log, clock, environment, providers }: Lent<typeof install>): Started<typeof install> {
  const installedAgents = new InstalledAgents({ agentsDir: agentsFolderIn(dataDir), log, clock })
  installedAgents.check()
  const jobs = new InstallJobs({ dataDir, log, clock, environment, providers })
  const handlers: Record<keyof typeof install.routes, PartHandler> = {
    'GET /api/agents/installations': () => jobs.list(),
    'POST /api/agents/{name}/install': (call) => jobs.begin(call),
  }
  const close = async (): Promise<void> => {
    await jobs.close()
    await installedAgents.close()
  }
  return { handlers, offers: { installedAgents }, close }
}
