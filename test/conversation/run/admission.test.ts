/** Which requests of a conversation ask whether there is space, and about which conversation. */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import type { Allowance } from '../../../src/conversation/agent/allowance.ts'
import type { AdmissionRules } from '../../../src/conversation/run/admission.ts'
import { conversationId, ended, failureOf, userText, withConversation } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/admission')

/** Rules of a full disk, with the questions that they were asked. */
function fullDisk(): { readonly rules: AdmissionRules; readonly asked: string[] } {
  const asked: string[] = []
  const assertSpace = (madeBy: string | undefined, id?: string): void => {
    asked.push(`${madeBy} ${id}`)
    throw new AppError('storage_full', 'full')
  }
  const refuse = (id: string, madeBy: string | undefined) => {
    assertSpace(madeBy, id)
    return () => undefined
  }
  return { rules: { limits: {}, creating: refuse, starting: refuse, assertSpace }, asked }
}

const allowance: Allowance = { takeStep: () => true, budgetSpent: () => undefined, usage: () => undefined }

test('a message and a new model are refused, and the conversation is named', () => {
  return withConversation(async (conversation, { deps }) => {
    const { rules, asked } = fullDisk()
    deps.admission.rules = rules
    assert.is(await failureOf(conversation.send(userText('work'), true)), 'storage_full')
    assert.is(await failureOf(conversation.switches.llm(() => ({ kind: 'Agent', llm: {} }))), 'storage_full')
    assert.equal(asked, [`ci ${conversationId}`, `ci ${conversationId}`])
    assert.is(conversation.events.eventCount, 0)
    assert.is(conversation.state.agent['kind'], 'ACPAgent')
  }, { made_by: 'ci' })
})

test('the message of a parent to its sub-agent is not refused, that of a client is', () => {
  return withConversation(async (conversation, { deps }) => {
    const { rules, asked } = fullDisk()
    deps.admission.rules = rules
    conversation.limitBy(allowance)
    await conversation.send(userText('task'), true)
    await ended(conversation)
    assert.equal(asked, [])
    conversation.limitBy(undefined)
    assert.is(await failureOf(conversation.send(userText('work'), true)), 'storage_full')
  })
})

test.run()
