import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { executionStatusValues } from '../../../src/schema/generated/conversations.ts'
import { nextStatus, type Trigger } from '../../../src/conversation/log/status-table.ts'

const test = suite('conversation/log/status-table')

const triggers = [
  'run', 'message', 'finished', 'asked', 'answered', 'rejected', 'paused', 'interrupted', 'failed', 'stuck',
  'restarted',
] as const satisfies readonly Trigger[]

/** contract/conversations.md 3, cell by cell; a dot changes nothing. */
const table = `
                          run      message  finished  asked    answered  rejected  paused  interrupted  failed  stuck  restarted
idle                      running  .        .         .        .         .         paused  paused       error   .      .
running                   .        .        finished  waiting  .         .         paused  paused       error   stuck  error
waiting_for_confirmation  running  .        finished  .        running   idle      .       paused       error   .      error
paused                    running  .        .         .        .         .         .       .            .       .      .
finished                  .        idle     .         .        .         .         .       .            .       .      .
error                     running  .        .         .        .         .         .       .            .       .      .
stuck                     running  idle     .         .        .         .         .       .            .       .      .
deleting                  .        .        .         .        .         .         .       .            .       .      .
`
const [head = '', ...rows] = table.trim().split('\n')

test('has a row for every status and a column for every trigger', () => {
  assert.equal(rows.map((row) => row.split(/\s+/)[0]).sort(), [...executionStatusValues].sort())
  assert.equal(head.trim().split(/\s+/), [...triggers])
})

for (const status of executionStatusValues) {
  test(`${status} goes where the contract says`, () => {
    const cells = rows.find((row) => row.startsWith(`${status} `))?.trim().split(/\s+/).slice(1) ?? []
    const expected = cells.map((cell) => {
      return (cell === '.' ? status : cell === 'waiting' ? 'waiting_for_confirmation' : cell)
    })
    assert.equal(triggers.map((trigger) => nextStatus(status, trigger)), expected)
  })
}

test.run()
