/** The wait for the end of a replay: the first frame names the newest event, and is not it. */
import * as assert from 'uvu/assert'
import { hasEvent } from '../../../scripts/bench/peers/python.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/bench/python')

test('a replay is over with the newest event, in the JSON of either server', () => {
  assert.is(hasEvent('{"id":"a","key":"full_state","value":{"last_user_message_id":"z","leaf_event_id":"z"}}', 'z'), false)
  assert.is(hasEvent('{"id": "a", "value": {"last_user_message_id": "z", "leaf_event_id": "z"}}', 'z'), false)
  assert.is(hasEvent('{"id":"z","kind":"MessageEvent"}', 'z'), true)
  assert.is(hasEvent('{"source": "user", "id": "z"}', 'z'), true)
})

test.run()
