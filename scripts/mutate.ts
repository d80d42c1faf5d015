/**
 * `npm run mutate`: breaks one promise of the source at a time and sees whether the tests notice.
 *
 * The mutations are data in scripts/mutate/mutations. Each is made in a copy of the tree outside the checkout, which is
 * removed at the end, after a signal too. The run fails when one of them survives, when its old text does not stand
 * exactly once in its file, when it does not compile, or when its test fails without it as well.
 * `-- --only SUBSTRING` takes the mutations that mention it in their file, promise or tests; `-- --list` prints them;
 * `-- --record FILE` leaves out the mutations that an earlier run has killed.
 */
import { fileURLToPath } from 'node:url'
import { commandLine, refuse } from './command-line.ts'
import { mutationSets } from './mutate/mutations/all.ts'
import { keepMutations, selectMutations, type MutationSet } from './mutate/mutation.ts'
import { KilledRecord } from './mutate/record.ts'
import { runMutations } from './mutate/run.ts'
import { printFolders } from './mutate/table.ts'
import { Workshop } from './mutate/workshop.ts'

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

const { flags } = commandLine({
  command: 'npm run mutate',
  help: 'Breaks one promise of the source at a time, in a copy, and fails if the tests named for it do not notice.',
  flags: {
    only: { value: 'TEXT', help: 'Only mutations that mention the text in their file, promise or tests' },
    record: {
      value: 'FILE', help: 'Write each killed mutation to the file, and leave out those that it has: a run goes on',
    },
    list: { help: 'Print the mutations and try none' },
  },
})
const only = flags.only?.at(-1) ?? ''
const mentioned = selectMutations(mutationSets, only)
if (mentioned.length === 0) refuse(`No mutation mentions "${only}"`)
const recordPath = flags.record?.at(-1)
const record = recordPath === undefined ? undefined : new KilledRecord(recordPath)
const sets = keepMutations(mentioned, (mutation) => record?.has(mutation) !== true)
if (sets.length === 0) print(`${recordPath} says that all of them were killed`)
else if (flags.list !== undefined) {
  for (const { folder, mutations } of sets) {
    for (const { file, promise } of mutations) print(`${folder}: ${file}: ${promise}`)
  }
} else {
  await tryAll(sets)
}

async function tryAll(chosen: readonly MutationSet[]): Promise<void> {
  const start = Date.now()
  const workshop = new Workshop(fileURLToPath(new URL('../../', import.meta.url)))
  for (const [signal, number] of Object.entries(signals)) {
    process.once(signal, () => {
      workshop.close()
      process.exit(128 + number)
    })
  }
  try {
    const tried = await runMutations(workshop, chosen, { print, onTried: (one) => record?.add(one) })
    for (const line of ['', ...printFolders(tried)]) print(line)
    const killed = tried.filter(({ outcome }) => outcome.verdict === 'killed').length
    print(`${killed} killed, ${tried.length - killed} not, in ${((Date.now() - start) / 1000).toFixed(0)} s`)
    process.exitCode = killed === tried.length ? 0 : 1
  } catch (error) {
    print(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  } finally {
    workshop.close()
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
