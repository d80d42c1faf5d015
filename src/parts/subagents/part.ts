/** The part `subagents`: tasks that the built-in agent hands to agents of their own. */
import type { Part, PartModule } from '../../part.ts'

export const subagents = {
  name: 'subagents',
  about: 'Tasks that the built-in agent hands to sub-agents, each in a conversation of its own',
  // The route takes a project folder, which may be any folder that a conversation may work in.
  routes: { 'POST /api/sub-agents': 'drive' },
  offers: ['subAgents'],
  tools: async () => ['task_tool_set'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
