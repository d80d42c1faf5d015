/** Which part of a view goes. */
import * as assert from 'uvu/assert'
import { planAll, planPart, type Plan, type Target } from '../../../../src/parts/builtin/condensing/plan.ts'
import { viewOf, agent, batch, prompt, user } from './events.ts'
import type { Event } from '../../../../src/schema/generated/events.ts'
import { suite } from '../../../support/suite.ts'

const test = suite('agents/builtin/condensing/plan')

/** A prompt, a task, and ten answers with one call each. */
const long = [prompt, user('u1'), ...Array.from({ length: 10 }, (_, place) => batch(`r${place}`, [`${place}`])).flat()]

function plan(events: readonly Event[], target: Target | 'all', keepFirst = 2): Plan | undefined {
  const { units, hasSystemPrompt } = viewOf(events)
  const input = { units, before: hasSystemPrompt ? 1 : 0, keepFirst }
  return target === 'all' ? planAll(input) : planPart(input, target)
}

function ids(planned: Plan | undefined): string[] | undefined {
  return planned?.forgotten.flatMap((unit) => unit.ids)
}

test('the first events and the newest stay, with room for the summary', () => {
  const planned = plan(long, { events: 11 })
  assert.is(planned?.offset, 2)
  assert.equal(ids(planned), ['0', '1', '2', '3', '4', '5'].flatMap((call) => [`a-${call}`, `o-${call}`]))
})

test('bounds fall between units, and more is forgotten rather than less', () => {
  assert.is(ids(plan(long, { events: 10 }))?.length, 14)
  assert.is(ids(plan(long, { events: 11 }, 3))?.length, 12)
  assert.is(plan(long, { events: 11 }, 3)?.offset, 4)
  assert.is(plan(long, { events: 11 }, 0)?.offset, 1)
  assert.is(plan(long.slice(1), { events: 11 }, 0)?.offset, 0)
})

test('the last unit stays, however little is wanted', () => {
  for (const target of [{ events: 1 }, { events: 0 }, { chars: 1_000_000 }]) {
    assert.is(ids(plan(long, target))?.at(-1), 'o-8')
  }
})

test('enough text goes, and of two targets the stricter one counts', () => {
  const each = 'read'.length + '{}'.length + 'done'.length
  assert.is(ids(plan(long, { chars: 3 * each }))?.length, 6)
  assert.is(ids(plan(long, { chars: 3 * each + 1 }))?.length, 8)
  assert.is(ids(plan(long, { chars: 3 * each, events: 11 }))?.length, 12)
  assert.is(ids(plan(long, { chars: 8 * each, events: 11 }))?.length, 16)
})

test('what may still get results stays, and all behind it', () => {
  const open = [...long, ...batch('open', ['p', 'q'], ['q']), user('u2'), user('u3')]
  assert.is(ids(plan(open, { events: 4 }))?.at(-1), 'o-9')
  assert.is(ids(plan(open, 'all'))?.at(-1), 'o-9')
})

test('calls that nobody will answer any more can go', () => {
  const left = [prompt, user('u1'), ...batch('r', ['x'], ['x']), agent('m1'), ...batch('s', ['y']), user('u2')]
  assert.equal(ids(plan(left, { events: 4 })), ['a-x', 'm1', 'a-y', 'o-y'])
})

test('all is everything but the system prompt', () => {
  const planned = plan(long, 'all')
  assert.is(planned?.offset, 1)
  assert.equal(ids(planned), long.slice(1).map(({ id }) => id))
})

test('nothing is planned that would not make the view smaller', () => {
  assert.is(plan([prompt, user('u1')], 'all'), undefined)
  assert.is(plan([prompt, user('u1'), user('u2'), user('u3')], { events: 3 }), undefined)
  assert.is(plan(long, {}), undefined)
  assert.is(plan(long, { events: 30 }), undefined)
  assert.is(plan(long, { events: 11 }, 40), undefined)
  assert.equal(ids(plan([prompt, user('u1'), user('u2')], 'all')), ['u1', 'u2'])
})

test.run()
