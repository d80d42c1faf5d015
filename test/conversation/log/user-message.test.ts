/** Messages of users as events. */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { assertFits, suffixOf, userMessageEvent, userMessageOf } from '../../../src/conversation/log/user-message.ts'
import { suite } from '../../support/suite.ts'
import { turnsDuring } from '../../support/turns.ts'

const test = suite('conversation/user message')
const content = [{ type: 'text', text: 'hello', cache_prompt: false } as const]

test('takes the content of a message and nothing else', () => {
  const message = { role: 'system', content, reasoning_content: 'x' } as const
  assert.equal(userMessageOf(message), { role: 'user', content, thinking_blocks: [] })
})

test('refuses a message that makes a longer event than the log takes', async () => {
  const event = userMessageEvent(userMessageOf({ content }))
  await assertFits(event, 1000)
  // Short enough, though not at its worst: it has to be measured.
  await assertFits(
    userMessageEvent(userMessageOf({ content: [{ type: 'text', text: 'x'.repeat(700), cache_prompt: false }] })), 1200,
  )
  const error = await assertFits(event, 200).catch((thrown: unknown) => thrown)
  assert.is(error instanceof AppError && error.code, 'body_too_large')
})

test('a message that has to be measured is, in a turn of its own', async () => {
  const long = userMessageEvent(
    userMessageOf({ content: [{ type: 'text', text: 'x'.repeat(100_000), cache_prompt: false }] }),
  )
  // The counting begins in the first of the two turns.
  assert.is(await turnsDuring(assertFits(long, 200_000)), 1)
  assert.is(await turnsDuring(assertFits(long, 1_000_000)), 0)
})

test('what the settings add to every message stands beside it, and blanks add nothing', () => {
  const text = (words: string): object => ({ type: 'text', text: words, cache_prompt: false })
  assert.equal(suffixOf({ agent_context: { user_message_suffix: 'Be brief.' } }), [text('Be brief.')])
  assert.equal(suffixOf({ agent_context: { user_message_suffix: '[Blocked by hook] x' } }), [
    text(' [Blocked by hook] x'),
  ])
  for (const agent of [
    {}, { agent_context: null }, { agent_context: {} }, { agent_context: { user_message_suffix: null } },
    { agent_context: { user_message_suffix: ' \n' } },
  ]) {
    assert.equal(suffixOf(agent), [])
  }
})

test.run()
