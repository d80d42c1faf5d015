import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { isObject } from '../../src/base/json.ts'
import { actionKinds } from '../../src/schema/generated/actions.ts'
import { eventKinds, isEvent, isPushFrame, pushFrameKinds, toEvent } from '../../src/schema/generated/events.ts'
import type { Event, EventDraft } from '../../src/schema/generated/events.ts'
import { observationKinds } from '../../src/schema/generated/observations.ts'
import { toolDefinitionKinds } from '../../src/schema/generated/tools.ts'
import { suite } from '../support/suite.ts'
import { createRandom, randomOf } from './samples.ts'

const test = suite('schema events')

test('numbers the kinds of events in the order of the specification', () => {
  assert.equal([...eventKinds], [
    'Condensation', 'CondensationRequest', 'CondensationSummaryEvent', 'ConversationErrorEvent',
    'ConversationStateUpdateEvent', 'LLMCompletionLogEvent', 'ActionEvent', 'MessageEvent', 'AgentErrorEvent',
    'ObservationEvent', 'UserRejectObservation', 'SystemPromptEvent', 'TokenEvent', 'PauseEvent',
  ])
})

test('knows the actions, observations and tools of the specification and no others', () => {
  assert.is(actionKinds.length, 28)
  assert.is(observationKinds.length, 14)
  assert.is(toolDefinitionKinds.length, 28)
  for (const kind of ['SwitchLLMAction', 'InvokeSkillAction', 'ApplyPatchAction', 'TaskObservation', 'ClientTool']) {
    assert.not([...actionKinds, ...observationKinds, ...toolDefinitionKinds].some((known) => known === kind))
  }
})

test('refuses the kinds that other servers have', () => {
  for (const kind of ['InterruptEvent', 'ACPToolCallEvent', 'HookExecutionEvent', 'MessageAction', '']) {
    assert.not(isEvent({ kind, id: 'e', timestamp: 't', source: 'agent' }))
  }
})

test('keeps frames that are only pushed apart from the history', () => {
  assert.equal([...pushFrameKinds], ['StreamingDeltaEvent', 'ServerErrorEvent'])
  const delta = { kind: 'StreamingDeltaEvent', content: 'x' }
  assert.ok(isPushFrame(delta))
  assert.not(isEvent(delta))
  assert.not(isPushFrame({ kind: 'PauseEvent' }))
})

test('makes an event of a draft and a stamp', () => {
  const draft: EventDraft = { kind: 'AgentErrorEvent', tool_name: 'n', tool_call_id: 'c', error: 'x' }
  const event: Event = toEvent({ ...draft, id: 'e', timestamp: 't' })
  assert.equal(event, {
    kind: 'AgentErrorEvent', id: 'e', timestamp: 't', source: 'agent', tool_name: 'n', tool_call_id: 'c', error: 'x',
  })
})

test('begins every event with kind, id, timestamp and source', () => {
  const random = createRandom(1)
  for (const kind of eventKinds) {
    const input: unknown = randomOf(kind, random)
    assert.ok(isEvent(input))
    const text = JSON.stringify(toEvent({ ...input, id: 'e', timestamp: 't' }))
    assert.match(text, new RegExp(`^\\{"kind":"${kind}","id":"e","timestamp":"t","source":"\\w+"[,}]`))
  }
})

test('has a vector for every kind', () => {
  const file = new URL('../../../test/vectors/events.json', import.meta.url)
  const vectors: unknown = JSON.parse(readFileSync(file, 'utf8'))
  assert.ok(isObject(vectors))
  assert.equal(Object.keys(vectors), [...eventKinds])
})

test.run()
