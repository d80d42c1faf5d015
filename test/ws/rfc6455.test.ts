/**
 * RFC 6455 section by section: every row of the tables in `rfc6455/`, sent whole and byte by byte.
 *
 * The last test holds the tables to the list of all sections: one without a row needs a reason.
 */
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { exchange } from '../support/ws-wire.ts'
import { closing } from './rfc6455/closing.ts'
import { framing } from './rfc6455/framing.ts'
import type { Row } from './rfc6455/row.ts'

const test = suite('ws/rfc6455', 30_000)

/** One test for each section, because a row is only a few bytes. */
function run(rows: readonly Row[]): void {
  for (const section of new Set(rows.map((row) => row.section))) {
    const ofSection = rows.filter((row) => row.section === section)
    test(`section ${section}: ${ofSection.length} rows`, async () => {
      for (const row of ofSection) {
        await check(row, undefined)
        await check(row, row.isLong === true ? 65_536 : 1)
      }
    })
  }
}

async function check(row: Row, pieceBytes: number | undefined): Promise<void> {
  const { section, says, sends, gets = [], hears = [], closed, ...options } = row
  const name = `${section}: ${says}, ${pieceBytes === undefined ? 'whole' : `in pieces of ${pieceBytes}`}`
  const found = await exchange(sends, { ...options, ...(pieceBytes === undefined ? {} : { pieceBytes }) })
  assert.equal(found.frames, gets, name)
  assert.equal(found.messages, hears, name)
  if (typeof closed === 'object') assert.match(found.closed ?? 'open', closed, name)
  else assert.is(found.closed, closed, name)
}

run(framing)
run(closing)

test.run()
