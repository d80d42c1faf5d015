/**
 * A short run of the fuzzer of the HTTP entrance; `npm run soak entrance` is the long one. The seed is printed;
 * FUZZ_SEED repeats a run and FUZZ_ROUNDS makes it longer.
 */
import { fuzzEntrance } from '../support/entrance-fuzz.ts'
import { suite } from '../support/suite.ts'

const test = suite('fuzz/entrance', 110_000)
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_007)
const rounds = Number(process.env['FUZZ_ROUNDS'] ?? 800)

test(
  'mutations of the hostile requests without a key are never served, never fail inside, and never hang',
  async () => {
    process.stdout.write(`FUZZ_SEED=${seed}\n`)
    process.stdout.write(`${JSON.stringify(await fuzzEntrance({ seed, rounds }))}\n`)
  },
)

test.run()
