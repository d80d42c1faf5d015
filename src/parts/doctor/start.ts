/** Starts the part `doctor`. */
import type { Lent, PartHandler, Started } from '../../part.ts'
import type { doctor } from './part.ts'
import { examineOne, examineServer, listAgents } from './routes.ts'

export function start(core: Lent<typeof doctor>): Started<typeof doctor> {
  const handlers: Record<keyof typeof doctor.routes, PartHandler> = {
    'GET /api/doctor': () => examineServer(core),
    'GET /api/doctor/agents': (call) => listAgents(core, call),
    'POST /api/doctor/agents/{name}': (call) => examineOne(core, call),
  }
  return { handlers }
}
