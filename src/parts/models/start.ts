/** Starts the part `models`: its routes, and the credentials of provider connections for LLM profiles. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { changeLog } from '../../settings/change-log.ts'
import { createConnectionStore } from './connections.ts'
import { models } from './part.ts'
import * as routes from './routes.ts'

export function start(core: Lent<typeof models>): Started<typeof models> {
  const { dataDir, cipher, masker, clock, log, llmProfiles, settings } = core
  const connections = createConnectionStore({
    path: join(dataDir, models.sealedFile.name),
    cipher,
    masker,
    clock,
    onChange: changeLog(log, 'Provider connections were changed'),
    createId: () => randomUUID().replaceAll('-', ''),
  })
  return {
    handlers: handlersOf({ connections, llmProfiles, settings }),
    offers: { providerConnections: { find: (id) => connections.find(id) } },
  }
}

function handlersOf(parts: routes.ModelParts): Record<keyof typeof models.routes, PartHandler> {
  return {
    'GET /api/llm/providers': routes.listProviders,
    'GET /api/llm/models': routes.listModels,
    'GET /api/llm/models/verified': routes.listVerifiedModels,
    'GET /api/llm/balance': routes.getBalance,
    'GET /api/llm/provider-connections': () => routes.listConnections(parts),
    'POST /api/llm/provider-connections': (call) => routes.addConnection(parts, call),
    'PATCH /api/llm/provider-connections/{connection_id}': (call) => routes.changeConnection(parts, call),
    'DELETE /api/llm/provider-connections/{connection_id}': (call) => routes.removeConnection(parts, call),
    'GET /api/llm/subscription/openai/models': routes.listSubscriptionModels,
    'GET /api/llm/subscription/openai/status': routes.getSubscription,
    'POST /api/llm/subscription/openai/logout': routes.getSubscription,
    'POST /api/llm/subscription/openai/device/start': routes.signInToSubscription,
  }
}
