/** Whether the check of a history notices every way in which an action can be answered wrongly. */
import * as assert from 'uvu/assert'
import { check, checkAnswers } from '../../../scripts/real/checks.ts'
import { suite } from '../../support/suite.ts'

const test = suite('real/checks')

const act = (id: string): object => ({
  kind: 'ActionEvent', id, tool_name: 'execute', tool_call_id: `call-${id}`, summary: `command ${id}`,
})
const answer = (action: string, changes: object = {}): object => ({
  kind: 'ObservationEvent', id: `of-${action}`, tool_name: 'execute', tool_call_id: `call-${action}`, action_id: action,
  ...changes,
})
const error = { kind: 'AgentErrorEvent', id: 'e', tool_name: 'execute', tool_call_id: 'call-1', error: 'Cancelled' }

const sound: readonly (readonly [string, readonly object[]])[] = [
  ['an empty one', []],
  ['two actions beside each other', [act('1'), act('2'), answer('2'), answer('1')]],
  ['a refusal', [act('1'), answer('1', { kind: 'UserRejectObservation' })]],
  ['an error, which names no action', [act('1'), error]],
]
for (const [name, events] of sound) {
  test(`takes ${name}`, () => assert.equal(failures(events), []))
}

const wrong: readonly (readonly [string, readonly object[], string])[] = [
  ['an open action', [act('1')], '"command 1" has exactly one answer'],
  ['two answers', [act('1'), answer('1'), error], '"command 1" has exactly one answer'],
  ['an answer before its action', [answer('1'), act('1')], '"command 1" has exactly one answer'],
  ['an answer of another tool', [act('1'), answer('1', { tool_name: 'edit' })], '"command 1" has exactly one answer'],
  ['an answer to another action', [act('1'), answer('1', { action_id: '2' })], '"command 1" has exactly one answer'],
  ['an answer to nothing', [answer('1')], 'every answer answers an action'],
  ['an id that comes twice', [act('1'), answer('1'), act('1')], 'no tool call id is used twice'],
]
for (const [name, events, failed] of wrong) {
  test(`notices ${name}`, () => assert.ok(failures(events).includes(failed), failures(events).join()))
}

test('compares as JSON, and tells what was seen', () => {
  assert.equal(check('a', { b: undefined }, {}), { name: 'a', ok: true, seen: '{}' })
  assert.equal(check('a', undefined, 1), { name: 'a', ok: false, seen: 'nothing' })
})

function failures(events: readonly object[]): string[] {
  return checkAnswers(events).filter(({ ok }) => !ok).map(({ name }) => name)
}

test.run()
