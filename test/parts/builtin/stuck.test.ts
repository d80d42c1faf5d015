/** Patterns of an agent that repeats itself, and histories that are close to them. */
import * as assert from 'uvu/assert'
import { judgeProgress } from '../../../src/parts/builtin/view/stuck.ts'
import { toEvent, type Event, type EventDraft } from '../../../src/schema/generated/events.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/stuck')
let serial = 0

function event(draft: EventDraft): Event {
  return toEvent({ ...draft, id: `id-${++serial}`, timestamp: '2026-01-01T00:00:00.000000Z' })
}

function says(source: 'user' | 'agent' | 'environment'): Event {
  const role = source === 'agent' ? 'assistant' : 'user'
  return event({
    kind: 'MessageEvent', source, llm_message: { role, content: [{ type: 'text', text: `words ${serial}` }] },
  })
}

function act(pattern: string): { readonly id: string; readonly callId: string; readonly action: Event } {
  const callId = `call-${++serial}`
  const action = event({
    kind: 'ActionEvent',
    thought: [],
    action: { kind: 'GlobAction', pattern },
    tool_name: 'glob',
    tool_call_id: callId,
    tool_call: { id: callId, name: 'glob', arguments: '{}', origin: 'completion' },
    llm_response_id: 'r',
  })
  return { id: action.id, callId, action }
}

function step(pattern: string, found: string): Event[] {
  const { id, callId, action } = act(pattern)
  const observation = { kind: 'GlobObservation', files: [found], pattern, search_path: '/' } as const
  return [
    action, event({ kind: 'ObservationEvent', tool_name: 'glob', tool_call_id: callId, action_id: id, observation }),
  ]
}

function failure(pattern: string): Event[] {
  const { callId, action } = act(pattern)
  return [action, event({ kind: 'AgentErrorEvent', tool_name: 'glob', tool_call_id: callId, error: `no ${serial}` })]
}

function times<T>(count: number, make: (place: number) => T[]): T[] {
  return Array.from({ length: count }, (_, place) => make(place)).flat()
}

test('the same action with the same result is stuck at the fourth time', () => {
  assert.is(judgeProgress(times(3, () => step('a', 'x'))), 'moving')
  assert.is(judgeProgress(times(4, () => step('a', 'x'))), 'stuck')
  assert.is(judgeProgress(times(4, (place) => step('a', `x${place}`))), 'moving')
})

test('an action that fails is nudged once at the third time and stuck at the fourth', () => {
  const three = times(3, () => failure('a'))
  assert.is(judgeProgress(times(2, () => failure('a'))), 'moving')
  assert.is(judgeProgress(three), 'nudge')
  assert.is(judgeProgress([...three, says('environment')]), 'moving')
  assert.is(judgeProgress([...three, says('environment'), ...failure('a')]), 'stuck')
  assert.is(judgeProgress([...three, ...step('b', 'x')]), 'moving')
})

test('different actions that fail one after the other are nudged at every third, and never stuck', () => {
  const failures = (count: number): Event[] => times(count, (place) => failure(`a${place}`))
  const judged = Array.from({ length: 8 }, (_, count) => judgeProgress(failures(count)))
  assert.equal(judged, ['moving', 'moving', 'moving', 'nudge', 'moving', 'moving', 'nudge', 'moving'])
  assert.is(judgeProgress([...failures(3), says('environment')]), 'moving')
  assert.is(judgeProgress([...failures(2), ...step('b', 'x'), ...failures(2)]), 'moving')
})

test('three messages of the agent in a row are stuck, whatever the environment says between', () => {
  assert.is(judgeProgress([says('agent'), says('agent')]), 'moving')
  assert.is(judgeProgress([says('agent'), says('environment'), says('agent'), says('agent')]), 'stuck')
  assert.is(judgeProgress([says('agent'), says('agent'), ...step('a', 'x'), says('agent')]), 'moving')
})

test('two actions that take turns are stuck after six', () => {
  const turn = (place: number): Event[] => step(place % 2 === 0 ? 'a' : 'b', 'x')
  assert.is(judgeProgress(times(5, turn)), 'moving')
  assert.is(judgeProgress(times(6, turn)), 'stuck')
})

test('a message of the user starts afresh', () => {
  assert.is(judgeProgress([...times(3, () => step('a', 'x')), says('user'), ...step('a', 'x')]), 'moving')
})

test('what is before the newest 20 events counts for nothing', () => {
  const stepsApart = (between: number): Event[] => {
    return [...step('a', 'x'), ...times(between, () => [says('environment')]), ...times(3, () => step('a', 'x'))]
  }
  assert.is(judgeProgress(stepsApart(12)), 'stuck')
  assert.is(judgeProgress(stepsApart(14)), 'moving')
})

test('an open action counts for nothing', () => {
  assert.is(judgeProgress(times(4, () => [act('a').action])), 'moving')
  assert.is(judgeProgress([]), 'moving')
})

test.run()
