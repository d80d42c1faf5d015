/** The part `keys`: named keys with scopes, for clients. */
import type { Part, PartModule } from '../../part.ts'

const help = `Usage: agent-server keys add NAME --scopes LIST [--expires TIME] [--tag NAME=VALUE]
                               [--max-runs N] [--max-conversations N] [--max-disk BYTES] [options]
       agent-server keys list [--json] [options]
       agent-server keys revoke NAME [options]

Named keys for clients. A key has the rights of its scopes, and no other right. Add prints the key once:
the data folder has its digest only. Send it like a session key, as X-Session-API-Key. A running server
knows a new key, and ends a revoked key with its connections, within a second.

Names have up to 64 small letters, digits, dots, dashes and underscores.

  --scopes LIST                 Scopes, separated by commas, or all:
        read        read conversations, events, files of workspaces, and settings without secrets
        drive       create, run, change and delete conversations
        approve     answer the questions of agents: accept or reject actions
        configure   change settings, profiles, MCP servers, skills
        admin       secret values, keys, any file of this machine, commands, plugins, agent programs
        metrics     read /metrics
  --expires TIME                End of the key: 30m, 12h, 90d, or a time such as 2027-01-31T12:00:00Z
  --tag NAME=VALUE              The key sees only conversations with this tag, and sets the tag on the
                                conversations that it creates. For the scopes read, drive and approve
  --max-conversations N         The most conversations that the key has made and that exist: a further one is 409
  --max-runs N                  The most runs at once in these conversations: a further run is 429
  --max-disk BYTES              The disk space of these conversations: at the limit a new conversation,
                                message, run or upload is 507
  --json                        Print the result as JSON, for programs

Give the folder as for the server (--data-dir, --config). The keys that seal secrets are another matter:
agent-server sealing-keys.

Exit codes
  0  done
  1  no key has this name, a key has it already, or there is no data folder yet
  2  cannot use the options
  5  cannot write the data folder, for instance because it belongs to another user
`

export const keys = {
  name: 'keys',
  about: 'Named keys: keys for clients with scopes, an expiry and a tag, added and revoked while the server runs',
  routes: {
    'GET /api/keys': 'keys',
    // No route adds a key: the thief of a key could add another key, which would outlive the stolen key.
    'DELETE /api/keys/{key_name}': 'keys',
    // This route shows a client only the name, id, scopes and tag of its own key.
    'GET /api/keys/current': 'read',
  },
  forRestricted: ['GET /api/keys/current'],
  commands: {
    keys: {
      flags: {
        scopes: 'value', expires: 'value', tag: 'value', 'max-conversations': 'value', 'max-runs': 'value',
        'max-disk': 'value', json: 'switch',
      },
      usage: ['keys add|list|revoke', 'keys for clients, with scopes; see keys --help'],
      help,
      interruptedWords: 'Interrupted',
      load: () => import('./command.ts'),
    },
  },
  examine: async ({ dataDir }) => (await import('./examine.ts')).examineNamedKeys(String(dataDir), Date.now()),
  startsWhen: () => true,
  spec: () => import('./spec.ts'),
  needs: ['dataDir', 'clock', 'log', 'masker', 'namedKeys', 'trail', 'use'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
