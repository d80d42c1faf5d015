/** The part `audit`: records who changed what, and which secrets agents got. */
import { oneOf } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

export const options = {
  audit: oneOf(['off', 'on', 'required'], 'off', {
    group: 'Log',
    help: 'Record changes and used secrets in audit/; required: refuse a change that cannot be recorded',
  }),
}

const help = `Usage: agent-server audit [--json] [--since TIME] [options]
       agent-server audit --expect HEAD [options]

Prints the audit trail of the data folder, which a server with --audit on or --audit required keeps: who
(name of the key, address) did what (method and pattern of the route, conversation, names in the path),
when and with which status, and which secrets agents got (names only). A server may be running.

  --json                        Print the records as they are stored, one JSON object a line
  --since TIME                  Only records from this time on, such as 2027-01-31 or 2027-01-31T12:00:00Z
  --expect HEAD                 Print no records: check the chain, and that it contains this head

The last line, on standard error, has the number of records and the head of the chain. Keep the head
somewhere else: a trail that does not contain it later (--expect) was rewritten, or lost its
end, or its file was moved away.

Exit codes
  0  printed                                         2  cannot use the options
  1  there is no trail, or it is damaged,            5  cannot read the data folder
     or it does not contain the expected head
`

export const audit = {
  name: 'audit',
  about: 'The audit trail: a chained log of each change, with its key and time, and of each used secret',
  options,
  commands: {
    audit: {
      flags: { json: 'switch', since: 'value', expect: 'value' },
      usage: ['audit [--json] [--since TIME]', 'print the audit trail; see audit --help'],
      help,
      interruptedWords: 'Interrupted',
      load: () => import('./command.ts'),
    },
  },
  inspectFolder: async (dataDir) => (await import('./reading.ts')).inspectTrail(dataDir),
  examine: async ({ audit: word }) => {
    const text = word === 'off' ? 'off: --audit on records each change and who made it' : `${word}`
    return { subject: 'audit trail', state: 'ok', text, advice: '' }
  },
  startsWhen: (values) => values['audit'] === 'on' || values['audit'] === 'required',
  needs: ['config', 'dataDir', 'clock', 'log', 'masker', 'trail'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
