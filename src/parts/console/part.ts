/** The part `console`: a page to set agents up and to talk to them. */
import { toggle } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

const help = `Usage: agent-server console [options]

Asks the server that runs on the data folder for a new one-time code, and prints the address that
opens the console in a browser and signs in. The address works once, within 10 minutes.

Give the data folder as for the server (--data-dir, --config; see agent-server --help).

Exit codes
  0  printed     1  no server runs on the folder, or it has no console     2  cannot use the options
`

export const options = {
  noConsole: toggle({ group: 'Access', help: 'Leave out the console, the page that this server shows in a browser' }),
}

export const consolePart = {
  name: 'console',
  about: 'The page of this server: sets agents up, shows conversations and talks to agents in a browser',
  options,
  leftOutBy: 'noConsole',
  routes: {
    // The page and its files hold no data.
    'GET /console/': 'open',
    'GET /console/assets/{digest}/{file}': 'open',
    // The request has a one-time code in place of a key.
    'POST /api/console/sign-in': 'open',
    // These routes can show and end the sessions of any browser.
    'GET /api/console/sessions': 'keys',
    'DELETE /api/console/sessions/{session_id}': 'keys',
    // `read` is enough: a new session or code has only the rights of the request's key, a sign-out ends only the
    // session of the request, and the other routes only read.
    'POST /api/console/sessions': 'read',
    'POST /api/console/sign-out': 'read',
    'POST /api/console/codes': 'read',
    'GET /api/console/changes': 'read',
    'POST /api/console/verify': 'read',
    'GET /api/console/conversations/{conversation_id}/search': 'read',
  },
  forRestricted: ['POST /api/console/sessions', 'POST /api/console/sign-out', 'GET /api/console/changes'],
  commands: {
    console: {
      flags: {},
      usage: ['console [options]', 'print a new address that opens the console'],
      help,
      interruptedWords: 'Interrupted',
      load: () => import('./command.ts'),
    },
  },
  offers: ['console'],
  startsWith: 'console-sessions.json',
  spec: () => import('./spec.ts'),
  needs: ['config', 'dataDir', 'clock', 'log', 'pageSessions', 'namedKeys', 'conversations', 'agentQueue'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
