/** The part `doctor`: examines this machine and its agents, and gives advice. */
import type { Part, PartModule } from '../../part.ts'

const help = `Usage: agent-server doctor [options] [NAME ...]

Checks Node, the data folder, the means to end processes, the pseudo-terminal and each agent: is it
installed, is there a login or a key (names only), does its program respond. Prints one line for each,
with advice. It changes nothing in the data folder and can be used while a server runs there. The
programs of agents are started as the server starts them, and may write into the home folder.

  --json                        Print the result as a JSON array, for programs

With names of providers it checks only these agents, and all of them must work.

Exit codes
  0  a server can run here, and every named agent works
  1  a server cannot run here, or a named agent does not work
  2  cannot use the options
`

export const doctor = {
  name: 'doctor',
  about: 'The command that checks this machine and its agents, and gives advice about each problem',
  routes: {
    'GET /api/doctor': 'configure',
    'GET /api/doctor/agents': 'read',
    // Starts the program of an agent, so it needs the same right as starting a conversation.
    'POST /api/doctor/agents/{name}': 'drive',
  },
  spec: () => import('./spec.ts'),
  needs: ['config', 'sealingKeyOptions', 'environment', 'parts', 'providers', 'dataDir', 'runtimeDir'],
  load: (): Promise<PartModule> => import('./start.ts'),
  commands: {
    doctor: {
      flags: { json: 'switch' },
      usage: ['doctor [options] [NAME ...]', 'check this machine; see doctor --help'],
      help,
      interruptedWords: 'Interrupted',
      load: () => import('./command.ts'),
    },
  },
} as const satisfies Part
