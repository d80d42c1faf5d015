/** The usage of a turn: sent to live readers after each step, recorded once at its end. */
import * as assert from 'uvu/assert'
import { memberAt } from '../../../src/base/fields.ts'
import { storedEvent } from '../../../src/conversation/log/stored-event.ts'
import type { Event } from '../../../src/schema/generated/events.ts'
import { ended, finished, objectOf, say, story, withConversation, wordsOf } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/run/live-stats')

test('usage of a streamed text is sent after the events of a batch, and recorded at the end of the turn', async () => {
  await withConversation(async (conversation, world) => {
    const live: string[] = []
    const write = (frame: Buffer): true => {
      const event = storedEvent(JSON.parse(frame.toString()))
      const cost = event === undefined ? '' : costOf(event)
      if (event !== undefined) live.push(`${wordsOf(event)}${cost}`)
      return true
    }
    conversation.join({ from: 'now', encode: (json) => json, sink: { write, end: () => undefined } })
    world.scripts.push(async (turn) => {
      turn.usage({ usageId: 'condenser', model: 'm', cost: 1 })
      turn.delta({ content: 'both' })
      turn.usage({ usageId: 'agent', model: 'm', cost: 2 })
      await Promise.resolve()
      turn.record(say('first'))
      turn.record(say('second'))
      await Promise.resolve()
      return finished
    })
    await conversation.run()
    await ended(conversation)
    assert.equal(await story(conversation), [
      'status running', 'agent: first', 'agent: second', 'update stats', 'status finished',
    ])
    assert.equal(live, [
      'update full_state', 'status running', 'update stats 1', 'agent: first', 'agent: second', 'update stats 3',
      'update stats 3', 'status finished', 'update full_state',
    ])
  })
})

test('usage of a streamed text that no event follows is counted with the end of the turn', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(async (turn) => {
      turn.delta({ content: 'lost' })
      turn.usage({ usageId: 'agent', model: 'm', cost: 2 })
      turn.usage({ usageId: 'critic', model: 'm', cost: 3 })
      return finished
    })
    await conversation.run()
    await ended(conversation)
    const { usage_to_metrics: metrics } = objectOf(conversation.state.stats)
    assert.is(memberAt(metrics, 'agent', 'accumulated_cost'), 2)
    assert.is(memberAt(metrics, 'critic', 'accumulated_cost'), 3)
  })
})

test('the cost of a question that is answered while the end of a run is written is recorded at once', async () => {
  await withConversation(async (conversation) => {
    const end = conversation.nextEnd()
    await conversation.run()
    await end
    assert.ok(conversation.isRunning)
    await conversation.asides.ask('it', new AbortController().signal)
    assert.equal((await story(conversation)).at(-1), 'update stats')
  })
})

/** The cost of all models in an update of `stats`, after a space. */
function costOf(event: Event): string {
  if (event.kind !== 'ConversationStateUpdateEvent' || event.key !== 'stats') return ''
  const all = Object.values(objectOf(memberAt(event.value, 'usage_to_metrics')))
  return ` ${all.reduce<number>((sum, metrics) => sum + Number(memberAt(metrics, 'accumulated_cost')), 0)}`
}

test.run()
