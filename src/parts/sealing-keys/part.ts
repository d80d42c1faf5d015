/** The part `sealing-keys`: the command that manages the keys that encrypt (seal) stored secrets. */
import type { Part } from '../../part.ts'

const help = `Usage: agent-server sealing-keys list       the sealing keys by their ids, and which are missing
       agent-server sealing-keys rotate     make a new key in keys/ of the data folder
       agent-server sealing-keys reseal     seal all stored secrets with the newest key
       agent-server sealing-keys forget ID  a key is lost: do not ask for it any more

Stored secrets are sealed with the newest key and opened with every key that is given. To change the key,
stop the server, then
  - where the key is in the data folder:    agent-server sealing-keys rotate
                                            agent-server sealing-keys reseal
  - where it is given as an option:         agent-server sealing-keys reseal --secret-key-file NEW
                                              --old-secret-key-file OLD

Reseal lists the data that still needs another key, and the keys that are no longer needed. Logs only
grow: their earlier records are not opened any more, but stay sealed with the old key. So if a key has
leaked, change the secrets as well. Repeated requests with an Idempotency-Key from before the change are
refused.

Give folder, keys and configuration file as for the server (--data-dir, --secret-key-file, --config;
see agent-server --help).

Exit codes
  0  done                                            2  cannot use the options
  1  some data still needs another key               4  a server runs on the data folder
                                                     5  cannot use the data folder
`

export const sealingKeys = {
  name: 'sealing-keys',
  about: 'The command that manages the keys that seal stored secrets',
  commands: {
    'sealing-keys': {
      flags: {},
      usage: ['sealing-keys ACTION', 'the keys that seal secrets; see its --help'],
      help,
      load: () => import('./command.ts'),
    },
  },
} as const satisfies Part
