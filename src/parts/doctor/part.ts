/** The part `doctor`: the command that examines this machine and its agents, and says how to mend each problem. */
import type { Part } from '../../part.ts'

const help = `Usage: agent-server doctor [options] [NAME ...]

Says in one line each what is here and what to do: Node, the data folder, what ends processes, the
pseudo-terminal, and each agent: is it installed, is there a login or a key (names only), and does its
program answer. It changes nothing in the data folder, and can be used while a server runs there. The
programs are started as the server starts them; what they write into the home folder is up to them.

  --json                        The same as a JSON array, for programs

With names of providers only these are tried, and they are expected to work.

Exit codes
  0  a server can run here, and every agent that was named works
  1  it cannot, or one does not
  2  cannot use the options
`

export const doctor = {
  name: 'doctor',
  about: 'The command that says what works on this machine, and what to do about the rest',
  commands: {
    doctor: {
      flags: { json: 'switch' },
      usage: ['doctor [options] [NAME ...]', 'say what works here; see doctor --help'],
      help,
      interruptedWords: 'Interrupted',
      load: () => import('./command.ts'),
    },
  },
} as const satisfies Part
