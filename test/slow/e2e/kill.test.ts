/** The same as test/e2e/kill, 500 times; says how soon after its start the server answered a message. */
import { availableParallelism, loadavg } from 'node:os'
import { killUnderLoad } from '../../e2e/kill-rounds.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/e2e/kill', 2_390_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['KILLS'] ?? 500)

test(
  'everything acknowledged is there once and in order after each of 500 kills under load, and nothing half-made',
  async () => {
    const { folder, remove } = makeFolder()
    try {
      const { duringStart, acknowledged, answeredAfterMs } = await killUnderLoad(folder, kills, seed)
      const sorted = answeredAfterMs.map(Math.round).sort((a, b) => a - b)
      const [median, most, worst] = [0.5, 0.99, 1].map((part) => sorted[Math.ceil(sorted.length * part) - 1])
      process.stdout.write(
        `seed ${seed}: ${kills} kills, ${duringStart} of them during the start, ${acknowledged} answers;`,
      )
      process.stdout.write(
        ` a message answered ${median} ms after the start of the process in the median, ${most} ms in 99 of 100, ` +
          `${worst} ms at most;`,
      )
      process.stdout.write(
        ` load of the machine ${loadavg().map((load) => load.toFixed(1)).join(' ')} on ${availableParallelism()} ` +
          'cores\n',
      )
    } finally {
      remove()
    }
  },
)

test.run()
