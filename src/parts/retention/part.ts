/** The part `retention`: limits of conversations, runs and disk space, and the removal of old conversations. */
import { integer, valuesOf, type Option } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

/** Returns an option for a number. The default 0 means no limit. */
function limit(placeholder: string, help: string): Option<number> {
  return integer({ group: 'Limits', help: `${help}; 0: no limit`, placeholder, initial: 0, min: 0, max: 2 ** 50 })
}

export const options = {
  retainDays: limit('DAYS', 'Days that a conversation stays after its last change; older conversations are removed'),
  retainCount: limit('NUMBER', 'Newest conversations that stay; a conversation and its sub-agents count as one'),
  retainBytes: limit('BYTES', 'Disk space of the newest conversations, which stay; older conversations are removed'),
  maxConversations: limit('NUMBER', 'Conversations that may exist; a further conversation is refused with 409'),
  maxRuns: limit('NUMBER', 'Runs that may be under way at once; a further run is refused with 429'),
  maxDisk: limit('BYTES', 'Size of the data folder at which new conversations, messages and runs are refused with 507'),
}

const help = `Usage: agent-server prune --retain-days N | --retain-count N | --retain-bytes N [--dry-run] [options]

Removes the conversations that a limit does not keep, the oldest first, as DELETE of the interface does:
webhooks are told, the audit trail records it, a worktree with changes stays. Give the limits as for
the server. With several limits, a conversation stays only if each limit keeps it. A running server with
these limits does the same by itself, so stop the server first, or use --dry-run.

A conversation stays while it has the tag "keep", is in use, or has a waiting question, goal or message.
It also stays while a conversation below it stays, such as the conversation of a sub-agent. A conversation
and all conversations below it are removed together.

  --dry-run                     Remove nothing: list the conversations that would be removed, and the
                                others with the reason why they stay. A server may run; conversations
                                in its memory stay as well, and the list does not know them
  --json                        Print the list as JSON, for programs

Exit codes
  0  done                                            4  a server runs on the data folder
  1  there is no data folder                         5  cannot use the data folder
  2  cannot use the options
`

export const retention = {
  name: 'retention',
  about: 'Limits of conversations, runs and disk space, and the removal of old conversations',
  options,
  offers: ['retention'],
  commands: {
    prune: {
      flags: { 'dry-run': 'switch', json: 'switch' },
      usage: ['prune [--dry-run] [--json]', 'remove old conversations; see prune --help'],
      help,
      interruptedWords: 'Interrupted: each removed conversation is removed as a whole',
      load: () => import('./command.ts'),
    },
  },
  examine: async (values) => (await import('./examine.ts')).examineLimits(values),
  // If no option sets a limit, the part `keys` starts this part when a key gets limits of its own.
  startsWhen: (values) => Object.values(valuesOf(options, values)).some((limit) => limit > 0),
  needs: [
    'config', 'conversations', 'unusedConversations', 'admission', 'namedKeys', 'load', 'written', 'clock', 'log',
    'dataDir', 'trail',
  ],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
