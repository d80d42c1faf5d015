/** The active branch as an agent reads it, and where in it the agent was set anew. */
import * as assert from 'uvu/assert'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import type { History } from '../../../src/conversation/agent/host.ts'
import { readBranch } from '../../../src/conversation/log/branch.ts'
import { userText, withConversation } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/log/branch')

function historyOf({ events: log }: Conversation): History {
  return readBranch(log, async () => undefined)
}

async function next(history: History): Promise<[count: number, switchedAt: number | undefined]> {
  const { events, switchedAt } = await history.next()
  return [events.length, switchedAt]
}

test('what was recorded before the agent was set anew is told apart, whichever part it is read in', async () => {
  await withConversation(async (conversation) => {
    const growing = historyOf(conversation)
    await conversation.send(userText('one'), false)
    const before = conversation.state.leaf_event_id
    assert.equal(await next(growing), [2, undefined])
    await conversation.switches.llm((agent) => ({ ...agent, llm: { model: 'another' } }))
    await conversation.send(userText('two'), false)
    assert.equal(await next(growing), [3, 0])
    assert.equal(await next(growing), [0, undefined])
    assert.equal(await next(historyOf(conversation)), [5, 2])
    await conversation.navigate(before)
    await conversation.send(userText('three'), false)
    assert.equal(await next(growing), [4, 2])
  })
})

test('an agent that is repeated as it was, as in a fork, is not set anew', async () => {
  await withConversation(async (conversation) => {
    await conversation.send(userText('one'), false)
    await conversation.switches.llm((agent) => ({ ...agent }))
    assert.equal(await next(historyOf(conversation)), [3, undefined])
  })
})

test.run()
