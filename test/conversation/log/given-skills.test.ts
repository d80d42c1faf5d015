/** Which skills a model has the text of, against a tree of events that is walked in full. */
import * as assert from 'uvu/assert'
import { givenAfterEvent, givenAfterMove, type GivenSkills } from '../../../src/conversation/log/given-skills.ts'
import { toEvent, type Event } from '../../../src/schema/generated/events.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/log/given-skills')

const idOf = (count: number): string => `0193${String(count).padStart(4, '0')}-0000-7000-8000-000000000000`

function message(count: number, ...skills: string[]): Event {
  const llm_message = { role: 'user', content: 'x' } as const
  return toEvent({
    kind: 'MessageEvent', source: 'user', id: idOf(count), timestamp: 't', llm_message, activated_skills: skills,
  })
}

function condensation(count: number, ...forgotten: string[]): Event {
  return toEvent({
    kind: 'Condensation', id: idOf(count), timestamp: 't', llm_response_id: 'r', forgotten_event_ids: forgotten,
  })
}

test('a message gives its skills, and other events give none', () => {
  const given = givenAfterEvent(givenAfterEvent({}, message(1, 'a', '__proto__')), message(2, 'b'))
  assert.equal(Object.entries(given), [['a', idOf(1)], ['__proto__', idOf(1)], ['b', idOf(2)]])
  assert.is(givenAfterEvent(given, message(3)), given)
  assert.is(givenAfterEvent(given, toEvent({ kind: 'PauseEvent', id: idOf(4), timestamp: 't' })), given)
})

test('a condensation takes the skills of what it forgets, and no others', () => {
  const given = givenAfterEvent(givenAfterEvent({}, message(1, 'a')), message(2, 'b'))
  assert.equal(givenAfterEvent(given, condensation(3, idOf(1), 'other')), { b: idOf(2) })
})

test('a skill that was given again counts from its newest message', () => {
  const again = givenAfterEvent(givenAfterEvent({}, message(1, 'a')), message(5, 'a'))
  assert.equal(givenAfterEvent(again, condensation(6, idOf(1))), { a: idOf(5) })
})

test('a move of the head keeps what was given up to there', () => {
  const given = givenAfterEvent(givenAfterEvent({}, message(1, 'a')), message(3, 'b'))
  assert.equal(givenAfterMove(given, idOf(3)), given)
  assert.equal(givenAfterMove(given, idOf(2)), { a: idOf(1) })
  assert.equal(givenAfterMove(given, null), {})
})

interface Node {
  readonly event: Event
  readonly parent: Node | undefined
}

/** Returns the skills whose texts the model has at this event. */
function toldAt(head: Node | undefined): Set<string> {
  const forgotten = new Set<string>()
  const told = new Set<string>()
  for (let node = head; node !== undefined; node = node.parent) {
    if (node.event.kind === 'Condensation') for (const id of node.event.forgotten_event_ids) forgotten.add(id)
    if (node.event.kind === 'MessageEvent' && !forgotten.has(node.event.id)) {
      for (const name of node.event.activated_skills) told.add(name)
    }
  }
  return told
}

/** Numbers from 0 to `end` - 1, the same for the same seed. */
function dice(seed: number): (end: number) => number {
  let state = seed
  return (end) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}

/** Where the head may be moved to, and whether histories are condensed. */
const worlds = [
  { what: 'one branch that is condensed', moves: 'none', condenses: true, isExact: true },
  { what: 'a head that is moved back', moves: 'back', condenses: false, isExact: true },
  { what: 'a head that is moved anywhere, and condensed branches', moves: 'anywhere', condenses: true, isExact: false },
] as const

for (const { what, moves, condenses, isExact } of worlds) {
  for (const seed of [1, 2, 3]) {
    test(`with ${what} no skill counts as given that the model is not told (seed ${seed}, 400 steps)`, () => {
      const roll = dice(seed)
      const nodes: Node[] = []
      let head: Node | undefined
      let given: GivenSkills = {}
      for (let step = 0; step < 400; step++) {
        const told = toldAt(head)
        for (const name of Object.keys(given)) assert.ok(told.has(name), `${name} at step ${step}`)
        if (isExact) assert.is(Object.keys(given).length, told.size, `step ${step}`)
        if (moves !== 'none' && roll(8) === 0) {
          if (moves === 'anywhere') head = roll(10) === 0 ? undefined : nodes[roll(nodes.length)]
          else for (let back = roll(6); back > 0; back--) head = head?.parent
          given = givenAfterMove(given, head?.event.id ?? null)
          continue
        }
        const forgotten = nodes.filter(() => roll(5) === 0).map(({ event }) => event.id)
        // As `incoming-message` does: a skill that the model has is not given again.
        const skills = [`s${roll(6)}`].filter((name) => !Object.hasOwn(given, name))
        const event = condenses && roll(6) === 0 ? condensation(step, ...forgotten) : message(step, ...skills)
        head = { event, parent: head }
        nodes.push(head)
        given = givenAfterEvent(given, event)
      }
    })
  }
}

test.run()
