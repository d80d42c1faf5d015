import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { isObject } from '../../src/base/json.ts'
import { watch } from '../../src/conversation/watch.ts'
import { ended, say, until, userText, withConversation, finished } from '../support/conversation.ts'

const test = suite('conversation/watch')
const signal = (): AbortSignal => new AbortController().signal

function word(event: unknown): string {
  return isObject(event) ? String(event['key'] ?? event['kind']) : '?'
}

test('yields the full state, what is stored, and what comes', async () => {
  await withConversation(async (conversation) => {
    await conversation.send(userText('one'), false)
    const events = watch(conversation, 0, signal())
    const words: string[] = []
    for (let count = 0; count < 3; count++) words.push(word((await events.next()).value))
    const waiting = events.next()
    await conversation.send(userText('two'), false)
    words.push(word((await waiting).value))
    assert.equal(words, ['full_state', 'MessageEvent', 'last_user_message_id', 'MessageEvent'])
    await events.return(undefined)
    assert.is(conversation.isBusy, false)
  })
})

test('ends when the conversation is closed or deleted', async () => {
  for (const reason of ['closed', 'deleted'] as const) {
    await withConversation(async (conversation) => {
      const events = watch(conversation, 'now', signal())
      await events.next()
      const waiting = events.next()
      await conversation.close(reason)
      assert.is((await waiting).done, true)
    })
  }
})

test('ends when it is aborted, at once if that was before', async () => {
  await withConversation(async (conversation) => {
    const controller = new AbortController()
    const events = watch(conversation, 'now', controller.signal)
    await events.next()
    const waiting = events.next()
    controller.abort()
    assert.is((await waiting).done, true)
    const words: string[] = []
    for await (const event of watch(conversation, 0, AbortSignal.abort())) words.push(word(event))
    assert.equal(words, ['full_state'])
    assert.is(conversation.isBusy, false)
  })
})

test('a host that is slow holds back nobody and misses nothing', async () => {
  await withConversation(async (conversation, world) => {
    const count = 1000
    const events = watch(conversation, 'now', signal())
    await events.next()
    world.scripts.push(async (turn) => {
      for (let number = 0; number < count; number++) {
        turn.record(say(String(number)))
        await turn.ready()
      }
      return finished
    })
    await conversation.run()
    await ended(conversation)
    const texts: string[] = []
    while (texts.length < count) {
      const { value } = await events.next()
      const text = /"text":"(\d+)"/.exec(JSON.stringify(value))?.[1]
      if (text !== undefined) texts.push(text)
    }
    assert.equal(texts, Array.from({ length: count }, (_, number) => String(number)))
    await events.return(undefined)
    await until(() => !conversation.isBusy)
  })
})

test.run()
