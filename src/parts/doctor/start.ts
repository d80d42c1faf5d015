/** Starts the part `doctor`. */
import type { PartHandler, StartedPart } from '../../part.ts'
import type { doctor } from './part.ts'
import { examineOne, examineServer, listAgents, type DoctorNeeds } from './routes.ts'

export function start(core: DoctorNeeds): StartedPart {
  const handlers: Record<keyof typeof doctor.routes, PartHandler> = {
    'GET /api/doctor': () => examineServer(core),
    'GET /api/doctor/agents': (call) => listAgents(core, call),
    'POST /api/doctor/agents/{name}': (call) => examineOne(core, call),
  }
  return { handlers }
}
