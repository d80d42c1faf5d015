import * as assert from 'uvu/assert'
import { isTerminalCall } from '../../../scripts/bench/hand-written.ts'
import { actionEvent } from '../../../scripts/bench/sample-event.ts'
import { isObject } from '../../../src/base/json.ts'
import { isEvent, toEvent } from '../../../src/schema/generated/events.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/bench/hand-written')

const wrong: readonly unknown[] = [undefined, null, 0, 1.5, -1, 'x', '', true, [], [null], {}]

test('the sample is 1 KB, valid, and in the canonical form', () => {
  const text = actionEvent()
  const event: unknown = JSON.parse(text)
  assert.ok(Math.abs(text.length - 1024) < 64)
  assert.ok(isEvent(event))
  assert.ok(isObject(event))
  const { id, timestamp } = event
  if (!isEvent(event) || typeof id !== 'string' || typeof timestamp !== 'string') {
    throw new TypeError('Expected an event')
  }
  assert.is(JSON.stringify(toEvent({ ...event, id, timestamp })), text)
})

test('answers as the generated validator does when any one member is another value, missing or unknown', () => {
  for (const place of ['', 'action', 'tool_call', 'thought.0']) {
    for (const name of [...Object.keys(at(JSON.parse(actionEvent()), place)), 'unknown']) {
      for (const value of wrong) assertSame(place, name, (object) => Object.assign(object, { [name]: value }))
      assertSame(place, name, (object) => Reflect.deleteProperty(object, name))
    }
  }
})

function assertSame(place: string, name: string, change: (object: Record<string, unknown>) => unknown): void {
  const event: unknown = JSON.parse(actionEvent())
  change(at(event, place))
  assert.is(isTerminalCall(event), isEvent(event), `${place} ${name} ${JSON.stringify(at(event, ''))}`)
}

/** The object at a place such as `thought.0`. */
function at(value: unknown, place: string): Record<string, unknown> {
  let found = value
  for (const name of place === '' ? [] : place.split('.')) {
    if (Array.isArray(found)) found = found[Number(name)]
    else if (isObject(found)) found = found[name]
  }
  if (!isObject(found)) throw new TypeError(`There is no object at "${place}"`)
  return found
}

test.run()
