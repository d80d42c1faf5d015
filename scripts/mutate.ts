/**
 * `npm run mutate`: breaks one promise of the source at a time and sees whether the tests notice.
 *
 * The mutations are data in scripts/mutate/mutations. Each is made in a copy of the tree outside the checkout, which is
 * removed at the end, after a signal too. The run fails when one of them survives, when its old text does not stand
 * exactly once in its file, when it does not compile, or when its test fails without it as well.
 * `-- --only SUBSTRING` takes those that mention it in their file, promise or tests; `-- --list` prints them.
 */
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { mutationSets } from './mutate/mutations/all.ts'
import { selectMutations, type MutationSet } from './mutate/mutation.ts'
import { runMutations } from './mutate/run.ts'
import { printFolders } from './mutate/table.ts'
import { Workshop } from './mutate/workshop.ts'

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, list: { type: 'boolean', default: false } },
})
const sets = selectMutations(mutationSets, values.only)
if (sets.length === 0) {
  print(`No mutation mentions '${values.only}'`)
  process.exitCode = 2
} else if (values.list) {
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
    const tried = await runMutations(workshop, chosen, print)
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
