/**
 * The view of a history after condensations (spec: Condensation; contract: tests.md, "Model input and tool-call
 * repair").
 */
import * as assert from 'uvu/assert'
import type { Event } from '../../../../src/schema/generated/events.ts'
import { suite } from '../../../support/suite.ts'
import { agent, batch, condensation, event, prompt, request, told, user, viewOf, words } from './events.ts'

const test = suite('agents/builtin/condensing/view')

const start = [
  prompt, user('u1'), ...batch('r1', ['x']), agent('m1'), user('u2'), ...batch('r2', ['y', 'z']), user('u3'),
]
const [system, u1, x, m1, u2, yz] = [
  'system: prompt', 'user: u1', 'assistant: <x>', 'assistant: m1', 'user: u2', 'assistant: <y><z>',
]
const ox = 'tool: done'

const table: readonly (readonly [what: string, events: readonly Event[], expected: readonly string[]])[] = [
  ['nothing is forgotten', start, [system, u1, x, ox, m1, u2, yz, ox, ox, 'user: u3']],
  ['an event is removed', [...start, condensation('c', ['m1'])], [system, u1, x, ox, u2, yz, ox, ox, 'user: u3']],
  ['plain messages that become neighbours are merged', [...start, condensation('c', ['a-x', 'o-x', 'm1'])],
    [system, 'user: u1u2', yz, ox, ox, 'user: u3']],
  ['a call goes with its result', [...start, condensation('c', ['a-x'])], [system, u1, m1, u2, yz, ox, ox, 'user: u3']],
  ['a result goes with its call', [...start, condensation('c', ['o-x'])], [system, u1, m1, u2, yz, ox, ox, 'user: u3']],
  ['all calls of one answer go together', [...start, condensation('c', ['o-z'])],
    [system, u1, x, ox, m1, 'user: u2u3']],
  ['ids that are not there change nothing', [...start, condensation('c', ['q'])],
    [system, u1, x, ox, m1, u2, yz, ox, ox, 'user: u3']],
  ['a summary without an offset is not inserted', [...start, condensation('c', ['m1'], 'sum')],
    [system, u1, x, ox, u2, yz, ox, ox, 'user: u3']],
  ['an offset without a summary inserts nothing', [...start, condensation('c', ['m1'], undefined, 1)],
    [system, u1, x, ox, u2, yz, ox, ox, 'user: u3']],
  ['a summary at 0 comes right behind the system message', [...start, condensation('c', [], 'sum', 0)],
    [system, 'user: sumu1', x, ox, m1, u2, yz, ox, ox, 'user: u3']],
  ['a summary at 1 too, since the system prompt counts', [...start, condensation('c', [], 'sum', 1)],
    [system, 'user: sumu1', x, ox, m1, u2, yz, ox, ox, 'user: u3']],
  ['the offset counts what is left', [...start, condensation('c', ['u1', 'a-x', 'o-x'], 'sum', 2)],
    [system, m1, 'user: sumu2', yz, ox, ox, 'user: u3']],
  ['a summary merges with plain messages on both sides', [...start, condensation('c', ['a-x', 'o-x', 'm1'], 'sum', 2)],
    [system, 'user: u1sumu2', yz, ox, ox, 'user: u3']],
  ['a summary between answers stands alone', [...start, condensation('c', ['u2'], 'sum', 5)],
    [system, u1, x, ox, m1, 'user: sum', yz, ox, ox, 'user: u3']],
  ['a summary never parts a call from its result', [...start, condensation('c', [], 'sum', 3)],
    [system, u1, x, ox, 'user: sum', m1, u2, yz, ox, ox, 'user: u3']],
  ['a summary never parts the calls of one answer', [...start, condensation('c', [], 'sum', 8)],
    [system, u1, x, ox, m1, u2, yz, ox, ox, 'user: sumu3']],
  ['an offset behind the end means the end', [...start, condensation('c', ['u3'], 'sum', 99)],
    [system, u1, x, ox, m1, u2, yz, ox, ox, 'user: sum']],
  ['everything but the system prompt', [...start, condensation('c', start.slice(1).map(({ id }) => id), 'sum', 1)],
    [system, 'user: sum']],
  ['the system prompt itself, if it is named', [user('u1'), prompt, condensation('c', ['s'], 'sum', 1)],
    ['user: u1sum']],
  ['an empty summary says that it is there', [user('u1'), agent('m1'), condensation('c', ['u1'], '', 0)],
    ['user: [An empty message.]', m1]],
  [
    'several in a row are applied one after the other',
    [...start, condensation('c', ['a-x', 'o-x'], 'one', 2), condensation('d', ['m1'], 'two', 3)],
    [system, 'user: u1onetwou2', yz, ox, ox, 'user: u3'],
  ],
  [
    'an earlier summary counts as an event',
    [...start, condensation('c', ['u1', 'a-x', 'o-x'], 'one', 1), condensation('d', [], 'two', 3)],
    [system, 'user: one', m1, 'user: twou2', yz, ox, ox, 'user: u3'],
  ],
  [
    'an earlier summary is forgotten by its derived id',
    [...start, condensation('c', ['a-x', 'o-x'], 'one', 2), condensation('d', ['c-summary', 'm1'], 'two', 2)],
    [system, 'user: u1twou2', yz, ox, ox, 'user: u3'],
  ],
  [
    'what comes afterwards goes on behind it',
    [...start, condensation('c', ['o-y', 'u3'], 'sum', 6), ...batch('r3', ['q']), user('u4')],
    [system, u1, x, ox, m1, 'user: u2sum', 'assistant: <q>', ox, 'user: u4'],
  ],
  [
    'results that come afterwards find their calls',
    [prompt, user('u1'), ...batch('r1', ['x'], ['x']), condensation('c', ['u1'], 'sum', 1),
      ...batch('r1', ['x']).slice(1)],
    [system, 'user: sum', x, ox],
  ],
  [
    'a call is not shown without its result',
    [prompt, user('u1'), ...batch('r1', ['x'], ['x']), user('u2'), condensation('c', ['u1'], 'sum', 1)],
    [system, 'user: sum', u2],
  ],
  [
    'further calls of the last answer join it',
    [prompt, user('u1'), ...batch('r1', ['x']), condensation('c', ['u1'], 'sum', 1), ...batch('r1', ['y'])],
    [system, 'user: sum', 'assistant: <x><y>', ox, ox],
  ],
  [
    'a request for a condensation is told to nobody',
    [prompt, user('u1'), request, user('u2')],
    [system, 'user: u1u2'],
  ],
  [
    'a stored summary stands for itself',
    [prompt, user('u1'), event('e', { kind: 'CondensationSummaryEvent', summary: 'sum' }), user('u2'),
      condensation('c', ['e'])],
    [system, 'user: u1u2'],
  ],
]

for (const [what, events, expected] of table) {
  test(`view: ${what}`, () => {
    assert.equal(told(events), expected)
  })
}

test('a part of a history, event by event, gives the same view as all of it at once', () => {
  for (const [what, events, expected] of table) {
    const view = viewOf([])
    for (const one of events) view.add({ isFresh: false, events: [one], responses: new Map(), late: new Map() })
    assert.equal(words(view.messages({ withImages: true })), expected, what)
  }
})

test('what the user said during an answer keeps its place, and can be forgotten before the answer is there', () => {
  const events = [prompt, user('u1'), user('u2'), agent('m1'), user('u3'), condensation('c', ['m1'], 'sum', 2)]
  assert.equal(told(events, { u2: 'm1' }), [system, 'user: u1sumu2u3'])
  const view = viewOf([prompt, user('u1')])
  const part = (
    list: readonly Event[], late: readonly (readonly [string, string])[],
  ): Parameters<typeof view.add>[0] => {
    return { isFresh: false, events: list, responses: new Map(), late: new Map(late) }
  }
  view.add(part([user('u2'), condensation('c', ['u2']), agent('m1')], [['u2', 'm1']]))
  assert.equal(words(view.messages({ withImages: true })), [system, u1, m1])
})

test('a condensation is asked for until one is made', () => {
  assert.is(viewOf([user('u1')]).isCondensationRequested, false)
  assert.is(viewOf([user('u1'), request]).isCondensationRequested, true)
  assert.is(viewOf([user('u1'), request, condensation('c', ['u1'])]).isCondensationRequested, false)
  assert.is(viewOf([user('u1'), condensation('c', ['u1']), request]).isCondensationRequested, true)
})

test('what is forgotten changes nothing of whether there is something to answer, and of what is known', () => {
  const all = start.slice(1).map(({ id }) => id)
  assert.is(viewOf([...start, condensation('c', all, 'sum', 1)]).isOpen, true)
  const closed = viewOf([...start, agent('m2'), condensation('c', [...all, 'm2'], 'sum', 1)])
  assert.is(closed.isOpen, false)
  assert.is(closed.hasId('x'), true)
  assert.is(closed.lastUserMessage?.id, 'u3')
  assert.is(closed.newest.length, start.length)
})

test('the size counts the events and the text that are left', () => {
  assert.equal(viewOf(start).size, { events: 11, chars: 6 + 4 * 2 + 3 * 4 + 3 * 6 })
  assert.equal(viewOf([...start, condensation('c', ['o-z', 'u3'], 'sum', 2)]).size, {
    events: 7, chars: 6 + 3 * 2 + 3 + 4 + 6,
  })
  const image = event('i', {
    kind: 'MessageEvent',
    source: 'user',
    llm_message: { role: 'user', content: [{ type: 'image', image_urls: ['data:,'] }] },
  })
  assert.equal(viewOf([image]).size, { events: 1, chars: 6000 })
})

test('a head that is moved before a condensation brings back what that had forgotten', () => {
  const view = viewOf([...start, condensation('c', ['u1', 'a-x', 'o-x', 'm1'], 'sum', 1)])
  assert.equal(words(view.messages({ withImages: true })).slice(0, 2), [system, 'user: sumu2'])
  view.add({ isFresh: true, events: start.slice(0, 5), responses: new Map(), late: new Map() })
  assert.equal(words(view.messages({ withImages: true })), [system, u1, x, ox, m1])
})

test.run()
