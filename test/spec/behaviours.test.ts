/** The table of behaviours (behaviours/): every test that it names is there. Prints how many stand without a test. */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { behaviours } from './behaviours/table.ts'
import { faultOf } from './proofs.ts'
import { parseProof } from './sentences/sentence.ts'

const test = suite('behaviours of the protocol')

for (const { title, behaviours: rows } of behaviours) {
  test(`${title}: each behaviour has its tests, or the reason why it has none`, () => {
    assert.is(new Set(rows.map(([says]) => says)).size, rows.length)
    for (const [says, ...heldBy] of rows) {
      assert.ok(heldBy.length > 0, says)
      assert.equal(heldBy.map(parseProof).flatMap((proof) => faultOf(proof) ?? []), [], says)
    }
  })
}

test('most behaviours are held by tests', () => {
  const rows = behaviours.flatMap((section) => section.behaviours)
  const open = rows.filter(([, ...heldBy]) => heldBy.every((text) => parseProof(text).kind === 'note'))
  process.stdout.write(`${rows.length} behaviours: ${open.length} without a test\n`)
  assert.ok(open.length * 10 < rows.length)
})

test('a test that is gone is told', () => {
  const proof = parseProof('e2e/events: a test that nobody has written')
  assert.is(faultOf(proof), 'No test "a test that nobody has written" in test/e2e/events.test.ts')
})

test.run()
