/** The part `install`: installs the programs of agents into the data folder with npm, and checks their digests. */
import type { Part, PartModule } from '../../part.ts'

const help = `Usage: agent-server agents list [--json]                     list the installed agents
       agent-server agents install NAME [--version VERSION]  install an agent with npm
       agent-server agents verify [NAME ...]                 compare every file with its digest
       agent-server agents remove NAME                       remove an installed agent
       agent-server agents schema                            the form of a --providers file

NAME is a provider of "agents list": a known agent, or an agent of the providers file. Without --version
the pinned version is installed, with which this server was tested. No script of a package is run.
The digest of every file is kept, and an agent whose files have changed is not started. When verify
finds every digest right, the agent can be started again, for example after a restored backup.

All commands can be used while a server runs. Running agents continue; new ones start from the new
files. Files that a running server may still use are removed at its next start.

Give folders, providers and configuration file as for the server (--data-dir, --providers, --config;
see agent-server --help).

Exit codes
  0  done, and everything is as it was installed     2  cannot use the options
  1  failed, or something differs or is missing      4  another command changes the installed agents
`

export const install = {
  name: 'install',
  about: 'Installs the programs of agents into the data folder and checks their files',
  commands: {
    agents: {
      flags: { version: 'value', json: 'switch' },
      usage: ['agents list|install|verify|...', 'install agents; see agents --help'],
      help,
      // An interruption stops npm, and the unfinished folder is removed (`install.ts`).
      interruptedWords: 'Interrupted: the interrupted step changed nothing',
      load: () => import('./command.ts'),
    },
  },
  routes: {
    'GET /api/agents/installations': 'read',
    // The server later starts the installed program, so an installation needs the right `execute`.
    'POST /api/agents/{name}/install': 'execute',
  },
  offers: ['installedAgents'],
  startsWith: 'agents',
  spec: () => import('./spec.ts'),
  needs: ['dataDir', 'environment', 'providers', 'clock', 'log'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
