import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { parseJson } from '../../src/base/json.ts'
import type { Conversation } from '../../src/conversation/conversation.ts'
import { toMessage } from '../../src/schema/generated/values.ts'
import {
  answers, created, ended, eventsOf, failureOf, makeConversation, objectOf, openTestConversation, story, until,
  userText, withConversation, withWorld, worksOn,
} from '../support/conversation.ts'

const test = suite('conversation/conversation')

test('a message is durable when it is answered', async () => {
  await withConversation(async (conversation, world) => {
    world.disk.hold()
    let answered = false
    const sent = conversation.send(userText('hi'), false).then(() => (answered = true))
    await until(() => world.disk.waiting > 0)
    assert.not.ok(answered)
    assert.is(conversation.events.eventCount, 0)
    world.disk.release()
    await sent
    assert.is(conversation.events.eventCount, 2)
  })
})

test('the first message gives the title, in the order of the settings', async () => {
  const cases = [
    { autotitle: true, text: '  Fix\nthe build ', title: 'Fix the build' },
    { autotitle: true, text: '   ', title: null },
    { autotitle: false, text: 'Fix', title: null },
  ]
  for (const { autotitle, text, title } of cases) {
    await withConversation(async (conversation) => {
      await conversation.send(userText(text), false)
      await conversation.send(userText('Another'), false)
      assert.is(conversation.state.title, title)
    }, { autotitle })
  }
})

test('a message of images alone gives no title, and one that has a title keeps it', async () => {
  await withConversation(async (conversation) => {
    const message = toMessage({ role: 'user', content: [{ type: 'image', image_urls: ['data:'] }] })
    await conversation.send(message, false)
    assert.is(conversation.state.title, null)
  }, { autotitle: true })
  await withConversation(async (conversation) => {
    await conversation.patch({ title: 'Mine' })
    await conversation.send(userText('Fix'), false)
    assert.is(conversation.state.title, 'Mine')
  }, { autotitle: true })
})

test('a patch changes title and tags, and the time of the change', async () => {
  await withConversation(async (conversation, world) => {
    world.time.now += 5000
    await conversation.patch({ title: 'New', tags: { a: '1' } })
    assert.is(conversation.state.title, 'New')
    assert.equal(conversation.state.tags, { a: '1' })
    assert.is(conversation.state.updated_at, '2026-11-21T12:00:05.000000Z')
    await conversation.patch({ tags: {} })
    assert.equal(conversation.state.tags, {})
    assert.is(conversation.state.title, 'New')
    assert.equal(await story(conversation), ['update tags', 'update tags'])
  })
})

test('a state update is recorded when the value changes, and not for an equal one', async () => {
  await withConversation(async (conversation) => {
    await conversation.setConfirmationPolicy({ kind: 'NeverConfirm' })
    await conversation.setSecurityAnalyzer(null)
    assert.equal(await story(conversation), [])
    await conversation.setConfirmationPolicy({ kind: 'AlwaysConfirm' })
    await conversation.setSecurityAnalyzer({ kind: 'LLMSecurityAnalyzer' })
    await conversation.setSecurityAnalyzer(null)
    assert.equal(await story(conversation), [
      'update confirmation_policy', 'update security_analyzer', 'update security_analyzer',
    ])
    assert.is(conversation.state.security_analyzer, null)
  })
})

test('of two changes at once the later counts, also when it takes back a change that is not durable yet', async () => {
  await withConversation(async (conversation, world) => {
    await conversation.setConfirmationPolicy({ kind: 'AlwaysConfirm' })
    world.disk.hold()
    const changes = [{ kind: 'NeverConfirm' }, { kind: 'AlwaysConfirm' }].map((policy) => {
      return conversation.setConfirmationPolicy(policy)
    })
    await until(() => world.disk.waiting > 0)
    world.disk.release()
    await Promise.all(changes)
    assert.equal(conversation.state.confirmation_policy, { kind: 'AlwaysConfirm' })
  })
})

test('secrets are merged and never taken away', async () => {
  await withConversation(async (conversation) => {
    await conversation.addSecrets({ A: { kind: 'StaticSecret' }, B: { kind: 'StaticSecret' } })
    await conversation.addSecrets(
      Object.fromEntries([['B', { kind: 'LookupSecret' }], ['__proto__', { kind: 'StaticSecret' }]]),
    )
    assert.equal(Object.keys(conversation.state.secrets), ['A', 'B', '__proto__'])
    assert.is(conversation.state.secrets['B']?.['kind'], 'LookupSecret')
    assert.equal(await story(conversation), [])
  })
})

test('the head moves to an event or before all, and the next event goes on from there', async () => {
  await withConversation(async (conversation) => {
    await conversation.send(userText('one'), false)
    const [first] = await eventsOf(conversation.events)
    const id = first?.id ?? ''
    await conversation.navigate(id.replaceAll('-', '').toUpperCase())
    assert.is(conversation.state.leaf_event_id, id)
    await conversation.navigate(null)
    assert.is(conversation.state.leaf_event_id, null)
    assert.is(await failureOf(conversation.navigate('00000000-0000-7000-8000-000000000000')), 'not_found')
    await conversation.send(userText('two'), false)
    assert.is(conversation.state.leaf_event_id, (await eventsOf(conversation.events)).at(-1)?.id)
    assert.equal(await story(conversation), ['user: one', 'user: two'])
  })
})

class Frames {
  readonly got: { key?: unknown; kind?: unknown; value?: unknown }[] = []
  end = ''

  join(conversation: Conversation, from: number | 'now'): this {
    conversation.join({
      from,
      encode: (json) => json,
      sink: {
        write: (json) => {
          this.got.push(objectOf(parseJson(json.toString())))
          return true
        },
        end: (reason) => void (this.end = reason),
      },
    })
    return this
  }

  get words(): string[] {
    return this.got.map(({ kind, key }) => String(key ?? kind))
  }
}

test('a reader begins with the full state, then gets what is stored and what comes', async () => {
  await withConversation(async (conversation) => {
    await conversation.send(userText('one'), false)
    const all = new Frames().join(conversation, 0)
    const now = new Frames().join(conversation, 'now')
    await until(() => all.got.length === 3)
    await conversation.send(userText('two'), false)
    assert.equal(now.words, ['full_state', 'MessageEvent', 'last_user_message_id'])
    assert.equal(all.words, [
      'full_state', 'MessageEvent', 'last_user_message_id', 'MessageEvent', 'last_user_message_id',
    ])
    assert.is(conversation.isBusy, true)
  })
})

test('the full state follows a pause also where it changes nothing, and the end of a run', async () => {
  await withConversation(async (conversation) => {
    const frames = new Frames().join(conversation, 'now')
    await conversation.pause()
    await conversation.pause()
    assert.equal(frames.words, ['full_state', 'execution_status', 'PauseEvent', 'full_state', 'full_state'])
    await conversation.run()
    await ended(conversation)
    assert.is(frames.words.at(-1), 'full_state')
  })
})

test('readers are told why a conversation closes, also one that comes while it does', async () => {
  for (const reason of ['closed', 'deleted'] as const) {
    await withConversation(async (conversation) => {
      const early = new Frames().join(conversation, 'now')
      await conversation.close(reason)
      const late = new Frames().join(conversation, 0)
      assert.equal([early.end, late.end], [reason, reason])
      assert.equal(late.words, ['full_state'])
    })
  }
})

test('a conversation with neither a run nor a reader is not busy', async () => {
  await withConversation(async (conversation, world) => {
    assert.is(conversation.isBusy, false)
    world.scripts.push(worksOn)
    await conversation.run()
    assert.is(conversation.isBusy, true)
    await conversation.interrupt()
    assert.is(conversation.isBusy, false)
  })
})

test('what a conversation is survives its closing, with the agent it began with', async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world, { autotitle: true })
    const first = await openTestConversation(world, directory)
    world.scripts.push(answers('hello'))
    await first.send(userText('hi'), true)
    await ended(first)
    await first.setConfirmationPolicy({ kind: 'AlwaysConfirm' })
    await first.addSecrets({ A: { kind: 'StaticSecret' } })
    const before = JSON.stringify(first.state)
    await first.close()
    const second = await openTestConversation(world, directory)
    assert.is(JSON.stringify(second.state), before)
    assert.equal(second.state.agent, created().agent)
    await second.close()
    assert.equal(world.closedIds, [second.id, second.id])
  })
})

test('times of new events come after those of an earlier life, whatever the clock says', async () => {
  await withWorld(async (world) => {
    const directory = await makeConversation(world)
    const first = await openTestConversation(world, directory)
    await first.send(userText('one'), false)
    await first.close()
    world.time.now -= 1_000_000
    const second = await openTestConversation(world, directory)
    await second.send(userText('two'), false)
    const times = (await eventsOf(second.events)).map((event) => event.timestamp)
    assert.equal(times, [...new Set(times)].sort())
    await second.close()
  })
})

test.run()
