/** The part `subagents`: lets the built-in agent give tasks to sub-agents. */
import type { Part, PartModule } from '../../part.ts'

export const subagents = {
  name: 'subagents',
  about: 'Tasks that the built-in agent hands to sub-agents, each in a conversation of its own',
  // The client chooses a project folder to read. So the route needs the right to let an agent work in a folder.
  routes: { 'POST /api/sub-agents': 'drive' },
  idle: ['POST /api/sub-agents'],
  offers: ['subAgents'],
  tools: async () => ['task_tool_set'],
  spec: () => import('./spec.ts'),
  needs: ['homeDir', 'privateDirs', 'workspaceDir', 'log', 'subConversations', 'conversations'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
