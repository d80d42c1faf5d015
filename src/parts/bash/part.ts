/** The part `bash`: commands that clients run on this machine. */
import { bytes, count } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

const MiB = 1024 * 1024

export const options = {
  bashLimit: count(32, 'Agents', 'Commands of clients that run at once'),
  bashHistoryBytes: bytes(32 * MiB, 'History of the commands of clients'),
}

export const bash = {
  name: 'bash',
  about: 'Commands that clients run on this machine',
  options,
  routes: {
    'POST /api/bash/start_bash_command': 'execute',
    'POST /api/bash/execute_bash_command': 'execute',
    'POST /api/bash/bash_commands/{command_id}/stop': 'execute',
    // Outputs may show every file that the server's user can read. So reading them needs the right `execute` too.
    'GET /api/bash/bash_events/search': 'execute',
    'GET /api/bash/bash_events/{event_id}': 'execute',
    'GET /api/bash/bash_events/': 'execute',
    'DELETE /api/bash/bash_events': 'execute',
  },
  idle: ['POST /api/bash/bash_commands/{command_id}/stop'],
  sockets: { 'GET /sockets/bash-events': 'execute' },
  spec: () => import('./spec.ts'),
  needs: [
    'config', 'environment', 'homeDir', 'dataDir', 'workspaceDir', 'instanceId', 'cgroupParent', 'masker', 'clock',
    'log',
  ],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
