/** The same as test/e2e/power, at every moment, with three outcomes of chance each. */
import { losePower } from '../../e2e/power-rounds.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/e2e/power', 2_390_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test('whatever was acknowledged is there after power is lost at any moment, and nothing half-made', async () => {
  for (const repeat of [0, 1, 2]) {
    const last = await losePower(seed + repeat * 100_000, { times: 'all' })
    process.stdout.write(
      `seed ${seed + repeat * 100_000}: power was lost at each of ${last + 1} moments between two changes of the ` +
        'disk\n',
    )
  }
})

test.run()
