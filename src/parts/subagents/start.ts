/** Starts the part `subagents`: the tool `task` of conversations, and the list of sub-agents for clients. */
import { ok, optionalBodyOf } from '../../api/call.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { SubAgentsRequest } from './generated.ts'
import { definitionsFor, listDefinitions, readDefinition } from './catalogue.ts'
import type { subagents } from './part.ts'
import { createTaskTool } from './task-tool.ts'

export function start(core: Lent<typeof subagents>): Started<typeof subagents> {
  const { homeDir, privateDirs, workspaceDir, log, subConversations, conversations } = core
  const places = { homeDir, privateDirs, workspaceDir, log }
  const handlers: Record<keyof typeof subagents.routes, PartHandler> = {
    'POST /api/sub-agents': async (call) => ok(await listDefinitions(optionalBodyOf(call, SubAgentsRequest), places)),
  }
  return {
    handlers,
    offers: {
      subAgents: {
        async taskTool(host, agent) {
          const definitions = await definitionsFor(host, places)
          return () => createTaskTool({ host, agent, definitions, subConversations, conversations, log })
        },
        readDefinition,
      },
    },
  }
}
