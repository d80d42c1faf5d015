/** Every bit of a log, flipped one at a time, with and without its index. */
import { checkFlip, sampleLog } from '../../storage/flips.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/storage/flips', 600_000)

test('loses one line at most to any flipped bit, and reports it', async () => {
  const sample = await sampleLog(8, 30)
  for (let bit = 0; bit < sample.log.length * 8; bit++) {
    await checkFlip(sample, bit, true)
    await checkFlip(sample, bit, false)
  }
})

test.run()
