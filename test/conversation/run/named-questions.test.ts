/** The lines for streaming clients that name the action of a question. */
import * as assert from 'uvu/assert'
import { act, ended, finished, objectOf, question, until, withConversation } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/run named questions')

test('readers are told which action is asked about, unless it is the newest and asked about first', async () => {
  await withConversation(async (conversation, world) => {
    world.scripts.push(async (turn) => {
      const [first, second] = [turn.record(act('one')), turn.record(act('two'))]
      const about = (name: string, actionId: string) => ({ ...question, toolCallId: name, actionId, command: name })
      await Promise.all([turn.ask(about('one', first.id)), turn.ask(about('two', second.id))])
      await turn.ask(about('three', turn.record(act('three')).id))
      return finished
    })
    const frames: string[] = []
    conversation.join({
      from: 'now',
      encode: (json) => json,
      sink: { write: (json) => frames.push(json.toString()) > 0, end: () => undefined },
    })
    await conversation.run()
    for (const title of ['one', 'two', 'three']) {
      await until(() => conversation.confirmations()[0]?.command === title)
      await conversation.respond({ accept: true, reason: '' })
    }
    await ended(conversation)
    const lines = frames.map((frame) => objectOf(JSON.parse(frame))['reasoning_content']).filter(Boolean)
    assert.equal(lines, ['\n[Asks: one]\n', '\n[Asks: two]\n'])
  })
})

test.run()
