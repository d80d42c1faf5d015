/** The part `backup`: backs up and restores a data folder. */
import type { Part, PartModule } from '../../part.ts'

const backupHelp = `Usage: agent-server backup [--without-keys] [--json] [options] DIR
       agent-server backup [--without-keys] [--json] [options] -

Backs up the data folder, also while a server uses it: all conversations, settings, secrets (sealed), keys,
extensions, the audit trail. DIR is a new or empty folder, or a folder with an earlier backup: then only
changed data is copied. With - a tar archive is written to standard output. Not in a backup: the workspaces,
the configuration file and keys that it names, installed agents, sign-ins of the console, and caches.

  --without-keys                Leave the sealing keys, the session key and the digests of named keys out.
                                Then secrets in the backup do not open without the keys
  --json                        Print the report as JSON, for programs

Everything that was acknowledged before the command began is in the backup. Settings, secrets and keys are
from the same moment; each log ends after a whole line, not before that moment. A backup is whole when
manifest.jsonl is in place: until then DIR has the earlier backup, and the same command continues.
The backup is for its owner only. A person who has it with the keys can open all stored secrets.

  agent-server backup /backup/agents
  agent-server backup - | gzip | ssh elsewhere 'cat > agents.tar.gz'
  agent-server restore --dry-run /backup/agents          checks every digest

Give the folder as for the server (--data-dir, --config).

Exit codes
  0  done                                            4  another backup into DIR is running
  1  no data folder, DIR has other content, or       5  cannot read the data folder or write the
     the command was interrupted                        backup: for instance a full disk
  2  cannot use the options
`

const restoreHelp = `Usage: agent-server restore BACKUP --to FOLDER [--workspace-map OLD=NEW ...]
       agent-server restore BACKUP --dry-run

Restores a backup to FOLDER, which must be new or empty, and checks the digest of everything. BACKUP is a
folder or a tar archive that agent-server backup wrote; - is a tar archive on standard input. An interrupted
restore is continued by the same command; until it is done no server starts on FOLDER.

  --to FOLDER                   The new data folder
  --workspace-map OLD=NEW       Conversations whose workspace is OLD or below OLD get the same place below
                                NEW, and so do paths in settings. Absolute paths; may be repeated
  --dry-run                     Check the whole backup and write nothing

Workspaces are not in a backup: copy them yourself. Then run agent-server verify --data-dir FOLDER and start
the server with --data-dir FOLDER.

Exit codes
  0  done                                            4  a server runs on FOLDER
  1  there is no backup, FOLDER has other content,   5  the backup is damaged, of a newer version, or
     or the command was interrupted                     cannot be read; FOLDER cannot be written
  2  cannot use the options
`

const interruptedWords = 'Interrupted: run the same command again to continue'

export const backup = {
  name: 'backup',
  about: 'Backs up the data folder while a server uses it, and restores it',
  commands: {
    backup: {
      flags: { 'without-keys': 'switch', json: 'switch' },
      usage: ['backup DIR|-', 'a backup of the data folder; see backup --help'],
      help: backupHelp,
      interruptedWords,
      load: async () => ({ run: (await import('./commands.ts')).runBackup }),
    },
    restore: {
      flags: { to: 'value', 'workspace-map': 'value', 'dry-run': 'switch' },
      usage: ['restore BACKUP --to FOLDER', 'a data folder from a backup; see restore --help'],
      help: restoreHelp,
      interruptedWords,
      load: async () => ({ run: (await import('./commands.ts')).runRestore }),
    },
  },
  examine: async ({ dataDir }) => (await import('./last-backup.ts')).examineBackups(String(dataDir), Date.now()),
  // A server needs this part only for a metric, the age of the newest backup. The commands work without its start.
  startsWhen: (values) => values['metrics'] === true,
  needs: ['dataDir', 'clock'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
