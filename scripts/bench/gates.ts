/**
 * All gates by name: gates that compare this server with a limit, gates of figures that users notice, and gates of
 * peers. A gate of peers is made when it is asked for, since the programs of others have to be installed first.
 */
import { appendAlone, appendTogether } from './append.ts'
import { compression } from './compression.ts'
import { condensedConversation } from './condensed-steps.ts'
import { echo } from './echo.ts'
import { bursts, fanOut } from './fan-out.ts'
import { getEvent } from './get-event.ts'
import { held } from './held.ts'
import { idleSockets } from './idle-sockets.ts'
import { list } from './list.ts'
import { longLog } from './long-log.ts'
import { manyAgents } from './many-agents.ts'
import { parallelSteps } from './parallel-steps.ts'
import { relay } from './relay.ts'
import { replay } from './replay.ts'
import { jsonRpc } from './rpc.ts'
import { start } from './start.ts'
import { longConversation } from './steps.ts'
import { parse, validate } from './validation.ts'
import { waitingModels } from './waiting-models.ts'
import { wholePath } from './whole-path.ts'
import type { NamedGate } from './gate.ts'
import { userGates } from './users/gates.ts'

const limitGates: readonly NamedGate[] = [
  { name: 'validate', gate: validate, seconds: 5 },
  { name: 'parse', gate: parse, seconds: 5 },
  { name: 'append-alone', gate: appendAlone, seconds: 10 },
  { name: 'append-together', gate: appendTogether, seconds: 10 },
  { name: 'long-log', gate: longLog, seconds: 30 },
  { name: 'list', gate: list, seconds: 20 },
  { name: 'get-event', gate: getEvent, seconds: 25 },
  { name: 'fan-out', gate: fanOut, seconds: 40 },
  { name: 'bursts', gate: bursts, seconds: 10 },
  { name: 'compression', gate: compression, seconds: 6 },
  { name: 'replay', gate: replay, seconds: 15 },
  { name: 'json-rpc', gate: jsonRpc, seconds: 20 },
  { name: 'whole-path', gate: wholePath, seconds: 15 },
  { name: 'echo', gate: echo, seconds: 15 },
  { name: 'held', gate: held, seconds: 60 },
  { name: 'idle-sockets', gate: idleSockets, seconds: 20 },
  { name: 'start', gate: start, seconds: 20 },
  { name: 'relay', gate: relay, seconds: 20 },
  { name: 'many-agents', gate: manyAgents, seconds: 150 },
  { name: 'steps', gate: longConversation, seconds: 40 },
  { name: 'condensed-steps', gate: condensedConversation, seconds: 40 },
  { name: 'parallel-steps', gate: parallelSteps, seconds: 20 },
  { name: 'waiting-models', gate: waitingModels, seconds: 40 },
]

export const ourGates: readonly NamedGate[] = [...userGates, ...limitGates]
