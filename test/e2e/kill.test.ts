/** The built program, killed at random points under load; many more of them are in test/slow/e2e/kill. */
import { makeFolder } from '../support/processes.ts'
import { suite } from '../support/suite.ts'
import { killUnderLoad } from './kill-rounds.ts'

const test = suite('kill', 90_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
process.stdout.write(`seed ${seed}\n`)

test(
  'everything acknowledged is there once and in order after each of six kills under load, and nothing half-made',
  async () => {
    const { folder, remove } = makeFolder()
    try {
      await killUnderLoad(folder, 6, seed)
    } finally {
      remove()
    }
  },
)

test.run()
