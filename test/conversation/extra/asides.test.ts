/** Requests to an agent outside its turns. */
import * as assert from 'uvu/assert'
import { ended, failureOf, finished, question, until, withConversation } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/extra/asides')

test('a condensation is refused at once while a turn waits for a confirmation', () => {
  return withConversation(async (conversation, world) => {
    world.scripts.push(async (turn) => {
      await turn.ask(question)
      return finished
    })
    const condense = (): Promise<string> => failureOf(conversation.asides.condense(new AbortController().signal))
    await conversation.run()
    await until(() => conversation.confirmations().length === 1)
    const [agent] = world.agents
    assert.ok(agent)
    agent.condense = async () => undefined
    assert.is(await condense(), 'conflict')
    assert.is(conversation.confirmations().length, 1)
    await conversation.respond({ accept: true, reason: '' })
    await ended(conversation)
    assert.is(await condense(), 'done')
  })
})

test.run()
