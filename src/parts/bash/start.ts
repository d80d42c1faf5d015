/** Starts the part `bash`: its history, commands, routes and WebSocket. */
import { join } from 'node:path'
import { valuesOf } from '../../option.ts'
import type { Lent, PartHandler, Started } from '../../part.ts'
import { buildEnvironment } from '../../process/environment.ts'
import { Commands } from './commands.ts'
import { History } from './history.ts'
import { options, type bash } from './part.ts'
import * as routes from './routes.ts'
import { BashSockets } from './socket.ts'

export async function start(core: Lent<typeof bash>): Promise<Started<typeof bash>> {
  const { config, environment, homeDir, dataDir, workspaceDir, instanceId, cgroupParent, masker, clock, log } = core
  const { bashLimit, bashHistoryBytes } = valuesOf(options, config)
  const path = join(dataDir, 'bash-events.jsonl')
  const history = await History.open({ path, limitBytes: bashHistoryBytes, log })
  const commands = new Commands({
    history,
    masker,
    clock,
    log,
    instanceId,
    cgroupParent,
    env: buildEnvironment({ server: environment, pass: config.passEnv }),
    homeDir: homeDir ?? workspaceDir,
    limit: bashLimit,
  })
  const { messageLimitBytes, jsonValueLimit: valueLimit } = config
  const sockets = new BashSockets({ history, commands, clock, log, messageLimitBytes, valueLimit })
  const parts: routes.BashParts = { history, commands }
  const handlers: Record<keyof typeof bash.routes, PartHandler> = {
    'POST /api/bash/start_bash_command': (call) => routes.startCommand(parts, call),
    'POST /api/bash/execute_bash_command': (call) => routes.executeCommand(parts, call),
    'POST /api/bash/bash_commands/{command_id}/stop': (call) => routes.stopCommand(parts, call),
    'GET /api/bash/bash_events/search': (call) => routes.searchEvents(parts, call),
    'GET /api/bash/bash_events/{event_id}': (call) => routes.getEvent(parts, call),
    'GET /api/bash/bash_events/': (call) => routes.getEvents(parts, call),
    'DELETE /api/bash/bash_events': () => routes.clearEvents(parts),
  }
  return {
    handlers,
    sockets: { 'GET /sockets/bash-events': (connection, query) => sockets.serve(connection, query) },
    async close() {
      sockets.close()
      await commands.close()
    },
  }
}
