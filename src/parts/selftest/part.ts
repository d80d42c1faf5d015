/** The part `selftest`: the command that tries this copy of the program. */
import type { Part } from '../../part.ts'

const help = `Usage: agent-server self-test [--json]

Starts a server on a free port of 127.0.0.1, in a temporary folder, and does the main job with the
demonstration agent: a conversation, its events, an event read back, the settings changed, the end.
Meanwhile it looks at the server from outside and compares the files, programs and addresses that
the server uses with the list in SECURITY.md. Prints one line for each check. It needs no account
and no network, ignores all other options, and removes everything that it made.

The server runs under Node's permission model, which lets it open only the files of that list.

  --json                        Print the result as a JSON array, for programs

What it sees: the addresses and listening ports of the server and the agent, their open files and
memory maps at each look (about 50 a second), and every program that lives at a look.
What it does not see: a file or a program that is opened and closed between two looks. Node's
permission model covers files of the server there, and \`npm run check:trace\` of the repository sees all.

Exit codes
  0  every check passed
  1  a check failed, or the server did not start
  2  cannot use the options
`

export const selftest = {
  name: 'selftest',
  about: 'The command that tries this copy of the program: the main job, and the files, programs and addresses of it',
  commands: {
    'self-test': {
      flags: { json: 'switch' },
      usage: ['self-test', 'try this program; see self-test --help'],
      help,
      interruptedWords: 'Interrupted',
      load: () => import('./command.ts'),
    },
  },
} as const satisfies Part
