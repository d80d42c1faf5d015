/** The same as in test/e2e/drain-long, with 100 clients. */
import { restartUnderLoad } from '../../e2e/rolling.ts'
import { withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/e2e/rolling', 1_800_000)

test(
  'five rolling restarts under 100 clients lose no event and no accepted message',
  withPrograms((start) => restartUnderLoad(start, { clients: 100, messages: 20, restarts: 5 })),
)

test.run()
