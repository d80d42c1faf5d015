/** A user message whose conversation closes while the agent introduces itself. */
import * as assert from 'uvu/assert'
import { checkpoint, failureOf, say, userText, withConversation } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/run/inbox')

test('a message is refused as a conflict when the conversation closes during the introduction of the agent', () => {
  return withConversation(async (conversation, world) => {
    conversation.asides.hasJudge() // Creates the agent.
    const introducing = checkpoint()
    const introduction = async (): Promise<unknown> => {
      await introducing.here()
      return say('I am the agent')
    }
    Object.assign(world.agents[0] ?? {}, { introduction })
    const sent = failureOf(conversation.send(userText('hi'), false))
    await introducing.reached
    await conversation.close()
    introducing.pass()
    assert.is(await sent, 'conflict')
  }, { agent: { kind: 'Agent' } })
})

test.run()
