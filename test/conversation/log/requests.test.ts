/** Requests with idempotency keys: one effect, wherever the log is cut, and nothing that is remembered too long. */
import * as assert from 'uvu/assert'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deferred } from '../../../src/base/wait.ts'
import type { MessageContext } from '../../../src/conversation/agent/agent.ts'
import { blockedContent } from '../../../src/conversation/log/blocked-message.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import { OpenRequests } from '../../../src/conversation/log/once.ts'
import {
  isSame, recordsOf, remember, requestLimits, type KeyedRequest, type RequestRecord,
} from '../../../src/conversation/log/requests.ts'
import type { Message } from '../../../src/schema/generated/values.ts'
import {
  act, answers, ended, failureOf, finished, makeConversation, openTestConversation, question, startMillis, story,
  textOf, until, userText, withConversation, withWorld, worksOn, type World,
} from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/log/requests')
const request: KeyedRequest = { key: 'key', digest: 'digest', at: startMillis }
const another: KeyedRequest = { ...request, digest: 'another' }
const hello = userText('hello')

function countOf(words: readonly string[], wanted: string): number {
  return words.filter((word) => word === wanted).length
}

test('a hundred messages with one key are one message and one run', () => withConversation(async (conversation) => {
  await Promise.all(Array.from({ length: 100 }, () => conversation.send(hello, true, request)))
  await ended(conversation)
  await conversation.send(hello, true, request)
  const words = await story(conversation)
  assert.equal([countOf(words, 'user: hello'), countOf(words, 'status running')], [1, 1])
}))

test('the same key with another request is refused, under way and later', () => withConversation(async (
  conversation, { disk },
) => {
  disk.hold()
  const first = conversation.send(hello, false, request)
  assert.is(await failureOf(conversation.send(userText('other'), false, another)), 'idempotency_mismatch')
  disk.release()
  await first
  assert.is(await failureOf(conversation.send(userText('other'), false, another)), 'idempotency_mismatch')
  assert.is(await failureOf(conversation.run(another)), 'idempotency_mismatch')
  assert.equal(await story(conversation), ['user: hello'])
}))

test('a request that failed is not remembered', () => withConversation(async (conversation, { disk }) => {
  assert.is(await failureOf(conversation.send(userText('x'.repeat(200_000)), false, request)), 'body_too_large')
  await conversation.send(hello, false, request)
  disk.fail('EIO')
  const second = { ...request, key: 'second' }
  assert.is(await failureOf(conversation.send(userText('more'), false, second)), 'storage_failed')
  disk.heal()
  await conversation.send(userText('more'), false, second)
  assert.equal(await story(conversation), ['user: hello', 'user: more'])
}))

test('a run that was asked for twice is one run, and what it was answered with stays', () => withConversation(async (
  conversation, { scripts },
) => {
  scripts.push(worksOn)
  await conversation.send(hello, false)
  await Promise.all([conversation.run(request), conversation.run(request)])
  await conversation.run(request)
  assert.is(await failureOf(conversation.run({ ...request, key: 'another' })), 'already_running')
  await conversation.interrupt()
  await conversation.run(request)
  assert.equal(countOf(await story(conversation), 'status running'), 1)
}))

test('a run that has nothing to do stays so for its key', () => withConversation(async (conversation) => {
  await conversation.send(hello, true)
  await ended(conversation)
  await conversation.run(request)
  await conversation.send(userText('later'), false)
  await conversation.run(request)
  assert.not.ok(conversation.isRunning)
}))

test('a message that comes during a run is remembered with it', () => withConversation(async (
  conversation, { scripts },
) => {
  scripts.push(worksOn, answers('both'))
  await conversation.send(userText('first'), true)
  await conversation.send(hello, true, request)
  await ended(conversation)
  await conversation.send(hello, true, request)
  assert.equal(countOf(await story(conversation), 'user: hello'), 1)
  assert.equal(countOf(await story(conversation), 'status running'), 1)
}))

test('a message that a hook has refused is remembered too, between runs and during one', () => withWorld(async (
  world,
) => {
  const contextOf = async (message: Message): Promise<MessageContext> => {
    return { content: textOf(message) === 'hello' ? [blockedContent('no')] : [], skills: [] }
  }
  const agentKind: typeof world.deps.agentKind = async (settings) => {
    const kind = await world.deps.agentKind(settings)
    return { ...kind, create: (host) => Object.assign(kind.create(host), { contextOf }) }
  }
  const directory = await makeConversation(world, { agent: { kind: 'Agent' } })
  const conversation = await openTestConversation({ ...world, deps: { ...world.deps, agentKind } }, directory)
  try {
    for (const _ of [1, 2]) await conversation.send(hello, true, request)
    world.scripts.push(worksOn)
    await conversation.send(userText('work'), true)
    for (const _ of [1, 2]) await conversation.send(hello, true, { ...request, key: 'during' })
    const words = await story(conversation)
    assert.equal([countOf(words, 'user: hello'), countOf(words, 'status running')], [2, 2])
  } finally {
    await conversation.close()
  }
}))

test(
  'an answer is given once, to the question of that time',
  () => withConversation(async (conversation, { scripts }) => {
    const outcomes: string[] = []
    scripts.push(async (turn) => {
      outcomes.push((await turn.ask(question)).outcome)
      outcomes.push((await turn.ask(question)).outcome)
      return finished
    })
    await conversation.send(hello, true)
    await until(() => conversation.confirmations().length === 1)
    const approval = { accept: true, reason: '' }
    await Promise.all(Array.from({ length: 10 }, () => conversation.respond(approval, request)))
    await until(() => outcomes.length === 1 && conversation.confirmations().length === 1)
    await conversation.respond(approval, request)
    assert.is(conversation.confirmations().length, 1)
    await conversation.respond({ accept: false, reason: 'no' }, { ...request, key: 'another' })
    await ended(conversation)
    assert.equal(outcomes, ['accepted', 'denied'])
    const nothing = { ...request, key: 'nothing' }
    await conversation.respond(approval, nothing)
    await conversation.respond(approval, nothing)
    assert.is(
      await failureOf(conversation.respond({ ...approval, id: 'unknown' }, { ...request, key: 'unknown' })),
      'not_found',
    )
  }),
)

test('actions that wait between runs are answered once', () => withConversation(async (conversation, { scripts }) => {
  const waits = (callId: string) => (turn: Parameters<typeof worksOn>[0]) => {
    turn.record(act(callId))
    return { outcome: 'waiting', served: true } as const
  }
  scripts.push(waits('one'), waits('two'), answers('done'))
  await conversation.send(hello, true)
  await ended(conversation)
  await Promise.all([1, 2, 3].map(() => conversation.respond({ accept: false, reason: 'no' }, request)))
  assert.equal(countOf(await story(conversation), 'UserRejectObservation'), 1)
  await conversation.send(userText('again'), true)
  await ended(conversation)
  await conversation.respond({ accept: false, reason: 'no' }, request)
  assert.is(conversation.confirmations().length, 1)
  const accept = { ...request, key: 'accept' }
  await Promise.all([1, 2, 3].map(() => conversation.respond({ accept: true, reason: '' }, accept)))
  await ended(conversation)
  await conversation.respond({ accept: true, reason: '' }, accept)
  assert.is(countOf(await story(conversation), 'status running'), 3)
}, { agent: { kind: 'Agent' } }))

/** Runs `body` for each log that a kill may leave: any line may have been the last that reached the disk. */
async function forEveryCut(
  world: World, directory: string, body: (conversation: Conversation, label: string) => Promise<void>,
): Promise<void> {
  const lines = (await readFile(join(directory, 'events.jsonl'), 'utf8')).split('\n').slice(0, -1)
  for (let count = 1; count <= lines.length; count++) {
    const cut = `${directory}-${count}`
    await mkdir(cut)
    await writeFile(join(cut, 'events.jsonl'), lines.slice(0, count).map((line) => `${line}\n`).join(''))
    const conversation = await openTestConversation(world, cut)
    try {
      await body(conversation, `cut behind ${lines[count - 1]?.slice(33, 150)}`)
    } finally {
      await conversation.close()
    }
  }
}

test('wherever a kill has cut the log, a message that is sent again is there once and was run once', () => withWorld(
  async (world) => {
    const directory = await makeConversation(world)
    const first = await openTestConversation(world, directory)
    world.scripts.push(answers('done'))
    await first.send(hello, true, request)
    await ended(first)
    await first.close()
    await forEveryCut(world, directory, async (conversation, label) => {
      await Promise.all([1, 2].map(() => conversation.send(hello, true, request)))
      await ended(conversation)
      await conversation.send(hello, true, request)
      const words = await story(conversation)
      assert.equal([countOf(words, 'user: hello'), countOf(words, 'status running')], [1, 1], label)
    })
  },
))

test('wherever a kill has cut the log, a run that is asked for again was begun once', () => withWorld(async (world) => {
  const directory = await makeConversation(world)
  const first = await openTestConversation(world, directory)
  await first.send(hello, false)
  const before = first.events.eventCount
  await first.run(request)
  await ended(first)
  await first.close()
  await forEveryCut(world, directory, async (conversation, label) => {
    if (conversation.events.eventCount < before) return
    await conversation.run(request)
    await ended(conversation)
    await conversation.run(request)
    assert.is(countOf(await story(conversation), 'status running'), 1, label)
  })
}))

test('a message that was cut from its run, and served by another one, is not run again', () => withWorld(async (
  world,
) => {
  const directory = await makeConversation(world)
  const first = await openTestConversation(world, directory)
  await first.send(hello, true, request)
  await ended(first)
  await first.close()
  let cuts = 0
  await forEveryCut(world, directory, async (conversation, label) => {
    const words = await story(conversation)
    if (words.at(0) !== 'user: hello' || words.includes('status running')) return
    cuts++
    await conversation.run()
    await ended(conversation)
    await conversation.send(hello, true, request)
    assert.is(countOf(await story(conversation), 'status running'), 1, label)
  })
  assert.ok(cuts > 0)
}))

test('a key is known for a day', () => withConversation(async (conversation) => {
  await conversation.send(hello, false, request)
  await conversation.send(hello, false, { ...request, at: startMillis + requestLimits.keptMs - 1 })
  assert.equal(await story(conversation), ['user: hello'])
  await conversation.send(userText('other'), false, { ...another, at: startMillis + requestLimits.keptMs })
  assert.equal(await story(conversation), ['user: hello', 'user: other'])
  assert.equal(conversation.state.requests.map(({ digest }) => digest), ['another'])
}))

function recordOf(number: number, changes: Partial<RequestRecord> = {}): RequestRecord {
  return { key: `key ${number}`, digest: '', at: startMillis, event: null, ...changes }
}

test('the oldest key goes with the 10,001st', () => {
  const known: RequestRecord[] = []
  for (let number = 0; number < requestLimits.count; number++) {
    // The two records of a message that is run count once.
    if (number % 10 === 0) remember(known, recordOf(number, { event: 'message', goes_on: true }))
    remember(known, recordOf(number))
  }
  assert.equal(recordsOf(known, recordOf(0)).map(({ event }) => event), [null, 'message'])
  remember(known, recordOf(requestLimits.count))
  assert.equal(recordsOf(known, recordOf(0)), [])
  assert.is(recordsOf(known, recordOf(1)).length, 1)
})

test('what is remembered does not grow without end', () => {
  const known: RequestRecord[] = []
  for (let number = 0; number < 5 * requestLimits.count; number++) remember(known, recordOf(number, { goes_on: true }))
  assert.is(known.length, 2 * requestLimits.count)
})

test('what is older than a day is forgotten with the next one', () => {
  const known = [recordOf(1), recordOf(2)]
  remember(known, recordOf(3, { at: startMillis + requestLimits.keptMs - 1 }))
  assert.is(known.length, 3)
  remember(known, recordOf(4, { at: startMillis + requestLimits.keptMs }))
  assert.equal(known.map(({ key }) => key), ['key 3', 'key 4'])
})

test('a key whose request came to nothing is free', () => withWorld(async (world) => {
  const directory = await makeConversation(world)
  const first = await openTestConversation(world, directory)
  await first.send(hello, false, request)
  await first.close()
  let cuts = 0
  await forEveryCut(world, directory, async (conversation, label) => {
    if (conversation.state.requests.length === 0 || conversation.events.eventCount > 0) return
    cuts++
    await conversation.send(userText('other'), false, another)
    assert.equal(await story(conversation), ['user: other'], label)
  })
  assert.is(cuts, 1)
}))

test('who comes while a request is under way gets what becomes of it, and who comes later does not', async () => {
  const open = new OpenRequests<number>()
  const gate = deferred<number>()
  const both = [open.join(request, () => gate.promise), open.join(request, async () => 2)]
  assert.is(await failureOf(open.join(another, async () => 3)), 'idempotency_mismatch')
  gate.resolve(1)
  assert.equal(await Promise.all(both), [1, 1])
  assert.is(await open.join(request, async () => 4), 4)
  const failing = [1, 2].map(() => open.join(request, async () => Promise.reject(new RangeError('no'))))
  assert.equal(await Promise.all(failing.map(failureOf)), ['no', 'no'])
  assert.is(await open.join(request, async () => 5), 5)
})

test('a request is told from another by its digest, and not known after its day', () => {
  assert.ok(isSame(request, { ...request, at: startMillis + 1 }))
  assert.not.ok(isSame(request, { ...another, at: startMillis + requestLimits.keptMs }))
  assert.throws(() => isSame(request, another), /"key" was used for another request/)
})

test('nothing of it is shown to clients', () => withConversation(async (conversation) => {
  await conversation.send(hello, false, { ...request, key: 'the-key-of-a-request' })
  assert.not.match(conversation.frames.fullState().json.toString(), 'the-key-of-a-request')
}))

test.run()
