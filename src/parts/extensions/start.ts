/** Starts the part `extensions`: repairs its folder, serves the routes, and offers installed skills and plugins. */
import { join } from 'node:path'
import type { DefinitionText, Extensions } from '../../offers.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import type { AgentDefinition } from '../../schema/generated/agent-definitions.ts'
import { openMachine } from '../workspace-files/machine.ts'
import { pluginsFor } from './conversation-plugins.ts'
import { createInstaller } from './installer.ts'
import type { extensions } from './part.ts'
import * as routes from './routes.ts'
import { emptyWork, Shelf } from './shelf.ts'

export async function start(core: Lent<typeof extensions>): Promise<Started<typeof extensions>> {
  const { environment, instanceId, cgroupParent, dataDir, homeDir, privateDirs, workspaceDir, clock, log } = core
  const { conversations } = core
  const root = join(dataDir, 'extensions')
  const shelves = { skills: new Shelf(root, 'skills', log), plugins: new Shelf(root, 'plugins', log) }
  for (const shelf of Object.values(shelves)) await shelf.recover()
  await emptyWork(root)
  const machine = openMachine(privateDirs)
  const git = { environment, instanceId, cgroupParent }
  const parts: routes.ExtensionParts = {
    installer: createInstaller({ root, shelves, machine, git, clock, log }),
    shelves,
    pluginList: { plugins: shelves.plugins, homeDir, privateDirs, workspaceDir, log },
    conversations,
    log,
  }
  const readDefinition = async (file: DefinitionText): Promise<AgentDefinition> => {
    return (await core.use('subAgents')).readDefinition(file)
  }
  const offered: Extensions = {
    async enabledSkills() {
      const enabled = (await shelves.skills.list()).filter(({ record }) => record.enabled)
      return enabled.map(({ record: { name }, folder }) => ({ name, folder }))
    },
    pluginsFor(request) {
      return pluginsFor(request, { plugins: shelves.plugins, machine, privateDirs, readDefinition, log })
    },
  }
  return { handlers: handlersOf(parts), offers: { extensions: offered } }
}

function handlersOf(parts: routes.ExtensionParts): Record<keyof typeof extensions.routes, PartHandler> {
  return {
    'POST /api/skills/sync': routes.syncSkills,
    'GET /api/skills/installed': () => routes.list(parts, 'skills'),
    'POST /api/skills/install': (call) => routes.install(parts, 'skills', call),
    'GET /api/skills/installed/{skill_name}': (call) => routes.get(parts, 'skills', call),
    'PATCH /api/skills/installed/{skill_name}': (call) => routes.update(parts, 'skills', call),
    'DELETE /api/skills/installed/{skill_name}': (call) => routes.remove(parts, 'skills', call),
    'POST /api/skills/installed/{skill_name}/refresh': (call) => routes.refresh(parts, 'skills', call),
    'GET /api/skills/marketplace': () => routes.showMarketplace('skills'),
    'POST /api/plugins': (call) => routes.findPlugins(parts, call),
    'GET /api/plugins/installed': () => routes.list(parts, 'plugins'),
    'POST /api/plugins/install': (call) => routes.install(parts, 'plugins', call),
    'GET /api/plugins/installed/{plugin_name}': (call) => routes.get(parts, 'plugins', call),
    'PATCH /api/plugins/installed/{plugin_name}': (call) => routes.update(parts, 'plugins', call),
    'DELETE /api/plugins/installed/{plugin_name}': (call) => routes.remove(parts, 'plugins', call),
    'POST /api/plugins/installed/{plugin_name}/refresh': (call) => routes.refresh(parts, 'plugins', call),
    'GET /api/plugins/marketplace': () => routes.showMarketplace('plugins'),
    'POST /api/conversations/{conversation_id}/load_plugin': (call) => routes.loadPlugin(parts, call),
  }
}
