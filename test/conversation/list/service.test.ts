import { cp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import type { ForkRequest } from '../../../src/conversation/log/fork.ts'
import type { Conversation } from '../../../src/conversation/conversation.ts'
import { ConversationService } from '../../../src/conversation/list/service.ts'
import type { Created } from '../../../src/conversation/log/origins.ts'
import { moveWorkspace } from '../../../src/parts/backup/move-workspace.ts'
import { Catalogue } from '../../../src/storage/catalogue.ts'
import { openDataFolder } from '../../../src/storage/layout.ts'
import {
  aborted, act, answers, checkpoint, created, ended, eventsOf, failureOf, finished, say, stopped, story, until,
  userText, withWorld, worksOn, type World,
} from '../../support/conversation.ts'

const test = suite('conversation/list/service')

interface Setup {
  readonly service: ConversationService
  readonly catalogue: Catalogue
  readonly world: World
  /** Another service on the same folder, as after a restart. */
  again(): Promise<ConversationService>
}

const idleTimeoutMs = 60_000

// The service looks for idle conversations when a test says so.
mock.timers.enable({ apis: ['setInterval'] })
test.after(() => mock.timers.reset())
const look = (): void => mock.timers.tick(idleTimeoutMs)

async function withService(body: (setup: Setup) => Promise<void>): Promise<void> {
  await withWorld(async (world) => {
    const folder = await openDataFolder(join(world.folder, 'data'))
    const services: ConversationService[] = []
    const start = async (catalogue: Catalogue): Promise<ConversationService> => {
      const service = new ConversationService({ catalogue, deps: world.deps, idleTimeoutMs })
      services.push(service)
      await service.start()
      return service
    }
    const catalogue = await Catalogue.open(folder, () => undefined)
    const service = await start(catalogue)
    try {
      await body({ service, catalogue, world, again: async () => start(await Catalogue.open(folder, () => undefined)) })
    } finally {
      world.disk.heal()
      world.disk.release()
      await Promise.all(services.map((one) => one.close()))
    }
  })
}

const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const conversationOf = (number: number, changes: Partial<Created> = {}): Created =>
  created({ id: idOf(number), ...changes })
const forkOf = (number: number, changes: Partial<ForkRequest> = {}): ForkRequest => ({
  id: idOf(number), title: null, tags: {}, resetMetrics: true, fromEventId: null, ...changes,
})
const listed = (service: ConversationService): string[] => [
  ...service.page({ sortOrder: 'CREATED_AT', limit: 100 }).ids,
]

test('makes a conversation once, whoever asks for it at the same time', async () => {
  await withService(async ({ service }) => {
    const results = await Promise.all(Array.from({ length: 20 }, () => service.create(conversationOf(1))))
    assert.is(results.filter(({ isNew }) => isNew).length, 1)
    assert.is(new Set(results.map(({ conversation }) => conversation)).size, 1)
    assert.is(service.count(), 1)
  })
})

test('opens a conversation once, whoever asks for it at the same time', async () => {
  await withService(async ({ service, again }) => {
    await service.create(conversationOf(1))
    await service.close()
    const second = await again()
    const opened = await Promise.all(Array.from({ length: 10 }, () => second.open(idOf(1))))
    assert.is(new Set(opened).size, 1)
  })
})

test('does not know what was never made', async () => {
  await withService(async ({ service }) => {
    assert.not.ok(service.has(idOf(1)))
    for (const work of [
      service.open(idOf(1)), service.info(idOf(1), false), service.remove(idOf(1)), service.fork(idOf(1), forkOf(2)),
    ]) assert.is(await failureOf(work), 'not_found')
  })
})

test('gives the info of a conversation, open or not', async () => {
  await withService(async ({ service, again }) => {
    await service.create(conversationOf(1))
    await service.create(conversationOf(2, { parent_conversation_id: idOf(1) }))
    const info = await service.info(idOf(1), false)
    assert.equal(info['sub_conversation_ids'], [idOf(2)])
    assert.match(String(info['persistence_dir']), `conversations/${idOf(1)}`)
    await service.close()
    const second = await again()
    assert.equal(await second.info(idOf(1), false), info)
  })
})

test('opens a conversation to give its info when the cache is gone', async () => {
  await withService(async ({ service, catalogue, world, again }) => {
    await service.create(conversationOf(1))
    await service.close()
    const second = await again()
    await writeFile(join(catalogue.pathOf(idOf(1)), 'state.json'), '')
    assert.is((await second.info(idOf(1), false))['id'], idOf(1))
    assert.equal(world.reports, [])
  })
})

test('a change of a conversation changes its place in the list', async () => {
  await withService(async ({ service, world }) => {
    await service.create(conversationOf(1))
    await service.create(conversationOf(2))
    world.time.now += 1000
    await (await service.open(idOf(1))).patch({ title: 'T' })
    assert.equal(service.page({ sortOrder: 'UPDATED_AT_DESC', limit: 1 }).ids, [idOf(1)])
    world.scripts.push(worksOn)
    await (await service.open(idOf(2))).run()
    assert.is(service.count('running'), 1)
  })
})

test('a fork begins with a copy of the history, with the agent, the policy and the secrets of the other', async () => {
  await withService(async ({ service, world }) => {
    const { conversation: source } = await service.create(conversationOf(1))
    world.scripts.push(answers('hello'))
    await source.send(userText('hi'), true)
    await ended(source)
    await source.setConfirmationPolicy({ kind: 'AlwaysConfirm' })
    // After the last event: no copy of lines up to it has them.
    await source.addSecrets({ LATE: { kind: 'StaticSecret' } })
    const fork = await service.fork(idOf(1), forkOf(2, { title: 'T', tags: { a: '1' } }))
    assert.equal(await story(fork), await story(source))
    assert.equal(
      (await eventsOf(fork.events)).map((event) => event.id), (await eventsOf(source.events)).map((event) => event.id),
    )
    assert.is(fork.state.execution_status, 'idle')
    assert.equal(fork.state.confirmation_policy, { kind: 'AlwaysConfirm' })
    assert.equal(Object.keys(fork.state.secrets), ['LATE'])
    assert.equal([fork.state.title, fork.state.tags], ['T', { a: '1' }])
    assert.equal([fork.state.forked_from_conversation_id, fork.state.forked_from_event_id], [idOf(1), null])
    await fork.send(userText('more'), false)
    assert.is(fork.events.eventCount, source.events.eventCount + 2)
    assert.ok(service.has(idOf(2)))
  })
})

test('a fork of a conversation without events begins without any', async () => {
  await withService(async ({ service }) => {
    const { conversation } = await service.create(conversationOf(1))
    await conversation.patch({ title: 'Mine' })
    await conversation.addSecrets({ A: { kind: 'StaticSecret' } })
    const fork = await service.fork(idOf(1), forkOf(2))
    assert.is(fork.events.eventCount, 0)
    assert.equal([fork.id, fork.state.title, Object.keys(fork.state.secrets)], [idOf(2), null, ['A']])
  })
})

test('a fork has no message that arrives after its request, and all lines before it', async () => {
  await withService(async ({ service, world }) => {
    const { conversation: source } = await service.create(conversationOf(1))
    // The fork waits for the end of the deletion of a conversation with its id.
    const forkDuring = async (id: number, message: string): Promise<Conversation> => {
      const { conversation: deleted } = await service.create(conversationOf(id))
      const atWork = checkpoint()
      world.scripts.push(async () => {
        await atWork.here()
        return finished
      })
      await deleted.run()
      await atWork.reached
      const removing = service.remove(idOf(id))
      const forking = service.fork(idOf(1), forkOf(id))
      await source.send(userText(message), false)
      atWork.pass()
      await removing
      return forking
    }
    const first = await forkDuring(2, 'one')
    assert.equal([await story(first), first.state.leaf_event_id], [[], null])
    await source.patch({ budget: 3 })
    const second = await forkDuring(3, 'two')
    assert.equal([await story(second), second.state.max_budget_per_task], [['user: one'], 3])
    assert.equal(await story(source), ['user: one', 'user: two'])
  })
})

test('a fork from an event has the events up to it, however its id is written', async () => {
  await withService(async ({ service, world }) => {
    const { conversation: source } = await service.create(conversationOf(1))
    world.scripts.push((turn) => {
      turn.record(say('one'))
      turn.record(act('call-1'))
      return finished
    })
    await source.run()
    await ended(source)
    const id = (await eventsOf(source.events))[2]?.id ?? ''
    for (const [number, form] of [id, id.replaceAll('-', ''), id.toUpperCase()].entries()) {
      const fork = await service.fork(idOf(1), forkOf(10 + number, { fromEventId: form }))
      assert.equal(await story(fork), ['status running', 'agent: one', 'action call-1'])
      assert.equal([fork.state.leaf_event_id, fork.state.forked_from_event_id], [id, id])
      assert.equal([fork.state.execution_status, fork.state.open_actions], ['idle', []])
    }
    assert.is(await failureOf(service.fork(idOf(1), forkOf(9, { fromEventId: 'unknown' }))), 'not_found')
    assert.not.ok(service.has(idOf(9)))
  })
})

test('a fork from an event works in the folder to which the workspace was moved later', async () => {
  await withService(async ({ service, world, again }) => {
    const { conversation: source } = await service.create(conversationOf(1))
    await source.send(userText('hi'), false)
    const [first] = await eventsOf(source.events)
    await service.close()
    const directory = join(world.folder, 'data', 'conversations', idOf(1))
    await moveWorkspace(directory, world.deps.cache, () => '/moved')
    const fork = await (await again()).fork(idOf(1), forkOf(2, { fromEventId: first?.id ?? '' }))
    assert.is(fork.state.working_dir, '/moved')
  })
})

test('a fork takes no id that is taken, and of two with one id one wins', async () => {
  await withService(async ({ service }) => {
    await service.create(conversationOf(1))
    assert.is(await failureOf(service.fork(idOf(1), forkOf(1))), 'conflict')
    const both = await Promise.all([
      failureOf(service.fork(idOf(1), forkOf(2))), failureOf(service.fork(idOf(1), forkOf(2))),
    ])
    assert.equal(both.sort(), ['conflict', 'done'])
  })
})

test('a deleted conversation is out of sight at once and gone from the disk', async () => {
  await withService(async ({ service, catalogue, world }) => {
    const { conversation } = await service.create(conversationOf(1))
    world.scripts.push(worksOn)
    await conversation.run()
    const removed = service.remove(idOf(1))
    assert.not.ok(service.has(idOf(1)))
    assert.equal(listed(service), [])
    const late = [
      failureOf(service.open(idOf(1))), failureOf(service.info(idOf(1), false)), failureOf(service.remove(idOf(1))),
    ]
    await removed
    assert.equal(await Promise.all(late), ['not_found', 'not_found', 'not_found'])
    assert.equal(await catalogue.list(), [])
    assert.is(world.agents[0]?.closed, 1)
    assert.is(await failureOf(conversation.send(userText('hi'), true)), 'conflict')
  })
})

test('a conversation that is deleted while it is opening is gone', async () => {
  await withService(async ({ service, again }) => {
    await service.create(conversationOf(1))
    await service.close()
    const second = await again()
    const opened = second.open(idOf(1))
    await second.remove(idOf(1))
    await (await opened).close()
    assert.is(await failureOf(second.open(idOf(1))), 'not_found')
  })
})

test('an id may be used again once it was deleted, also by who asks meanwhile', async () => {
  await withService(async ({ service }) => {
    const { conversation } = await service.create(conversationOf(1))
    await conversation.send(userText('old'), false)
    const removed = service.remove(idOf(1))
    const again = await service.create(conversationOf(1))
    await removed
    assert.ok(again.isNew)
    assert.equal(await story(again.conversation), [])
    assert.ok(service.has(idOf(1)))
  })
})

test('what cannot be removed is still there', async () => {
  await withService(async ({ service, catalogue }) => {
    await service.create(conversationOf(1))
    const remove = catalogue.remove.bind(catalogue)
    catalogue.remove = () => Promise.reject(new Error('EBUSY'))
    assert.is(await failureOf(service.remove(idOf(1))), 'EBUSY')
    assert.ok(service.has(idOf(1)))
    catalogue.remove = remove
    assert.is((await service.open(idOf(1))).id, idOf(1))
  })
})

test('a conversation whose creation failed is not there', async () => {
  await withService(async ({ service, catalogue, world }) => {
    world.disk.fail('EIO')
    assert.is(await failureOf(service.create(conversationOf(1))), 'storage_failed')
    assert.not.ok(service.has(idOf(1)))
    world.disk.heal()
    assert.equal(await catalogue.list(), [])
    assert.ok((await service.create(conversationOf(1))).isNew)
  })
})

test('a conversation that cannot be opened now can be later', async () => {
  await withService(async ({ service, world, again }) => {
    await service.create(conversationOf(1))
    await service.close()
    const second = await again()
    world.disk.fail('EIO')
    assert.is(await failureOf(second.open(idOf(1))), 'storage_failed')
    world.disk.heal()
    assert.is((await second.open(idOf(1))).id, idOf(1))
  })
})

test('a start ends what a killed server left running, and opens nothing else', async () => {
  await withService(async ({ service, world, again }) => {
    world.scripts.push((turn) => {
      turn.record(act('call-1'))
      return worksOn(turn)
    })
    const { conversation } = await service.create(conversationOf(1))
    await service.create(conversationOf(2))
    await conversation.run()
    await until(() => conversation.state.open_actions.length === 1)
    const second = await again()
    assert.is(second.count('error'), 1)
    assert.is(second.count('idle'), 1)
    const reopened = await second.open(idOf(1))
    assert.equal((await story(reopened)).slice(2), ['error call-1', 'failure ServerRestarted', 'status error'])
  })
})

test('one conversation that cannot be read does not keep the others from being served', async () => {
  await withService(async ({ service, catalogue, world, again }) => {
    for (const number of [1, 2, 3]) await service.create(conversationOf(number))
    await service.close()
    await writeFile(join(catalogue.pathOf(idOf(2)), 'state.json'), '')
    await writeFile(join(catalogue.pathOf(idOf(2)), 'events.jsonl'), 'nothing of ours\n')
    await rm(join(world.folder, 'data', 'list.json'))
    const second = await again()
    assert.equal(listed(second), [idOf(1), idOf(3)])
    assert.match(world.reports.join(), `could not be read and is not served {"conversation_id":"${idOf(2)}"`)
    assert.is(await failureOf(second.open(idOf(2))), 'not_found')
    assert.equal((await readdir(catalogue.pathOf(idOf(2)))).includes('events.jsonl'), true)
  })
})

test('a folder whose name is not the id of its conversation is not served', async () => {
  await withService(async ({ service, catalogue, again }) => {
    await service.create(conversationOf(1))
    await service.close()
    await cp(catalogue.pathOf(idOf(1)), catalogue.pathOf(idOf(2)), { recursive: true })
    assert.equal(listed(await again()), [idOf(1)])
  })
})

test('a graceful end pauses what runs; the next start finds it so', async () => {
  await withService(async ({ service, world, again }) => {
    const { conversation } = await service.create(conversationOf(1))
    world.scripts.push(worksOn)
    await conversation.send(userText('hi'), true)
    await service.close()
    assert.is(world.agents[0]?.closed, 1)
    const second = await again()
    assert.is(second.count('paused'), 1)
    assert.equal(await story(await second.open(idOf(1))), ['user: hi', 'status running', 'status paused'])
  })
})

test('once it is closing it opens, makes, copies and removes nothing, and what was under way is closed', async () => {
  await withService(async ({ service, world }) => {
    await service.create(conversationOf(1))
    const making = service.create(conversationOf(2))
    const closed = service.close()
    const late = [
      service.open(idOf(1)), service.create(conversationOf(3)), service.remove(idOf(1)),
      service.fork(idOf(1), forkOf(4)),
    ].map(failureOf)
    assert.equal(await Promise.all(late), ['unavailable', 'unavailable', 'unavailable', 'unavailable'])
    await closed
    assert.is(await failureOf((await making).conversation.run()), 'conflict')
    assert.equal([...world.closedIds].sort(), [idOf(1), idOf(2)])
    assert.is(service.close(), service.close())
  })
})

test('a conversation that cannot be closed in good order does not keep the others open', async () => {
  await withService(async ({ service, world }) => {
    const { conversation } = await service.create(conversationOf(1))
    await service.create(conversationOf(2))
    conversation.close = () => Promise.reject(new Error('EBADF'))
    await service.close()
    assert.equal(world.closedIds, [idOf(2)])
    assert.match(world.reports.join(), 'could not be closed in good order')
  })
})

test('what nobody uses is closed with its agent and opens again unseen', async () => {
  await withService(async ({ service, world }) => {
    const { conversation: idle } = await service.create(conversationOf(1))
    const { conversation: watched } = await service.create(conversationOf(2))
    const { conversation: running } = await service.create(conversationOf(3))
    await idle.run()
    await ended(idle)
    watched.join({ from: 'now', encode: (json) => json, sink: { write: () => true, end: () => undefined } })
    world.scripts.push(worksOn)
    await running.run()
    look()
    assert.equal(world.closedIds, [])
    world.time.now += idleTimeoutMs + 1
    look()
    await until(() => world.closedIds.length > 0)
    assert.equal(world.closedIds, [idOf(1)])
    assert.is(world.agents[0]?.closed, 1)
    const again = await service.open(idOf(1))
    assert.is.not(again, idle)
    assert.is(again.state.execution_status, 'finished')
    await running.interrupt()
  })
})

test('what was just asked for, or has just had an event, is not closed', async () => {
  await withService(async ({ service, world }) => {
    const { conversation } = await service.create(conversationOf(1))
    world.time.now += idleTimeoutMs + 1
    await conversation.send(userText('an event'), false)
    look()
    world.time.now += idleTimeoutMs + 1
    look()
    // In the same turn, after it was chosen to be closed: a caller who asks for it gets an open conversation.
    const opened = await service.open(idOf(1))
    await opened.send(userText('hi'), false)
    assert.equal(world.closedIds, [])
  })
})

test('who asks for a conversation while it is being closed gets it opened again', async () => {
  await withService(async ({ service, world }) => {
    const { conversation } = await service.create(conversationOf(1))
    const closing = checkpoint()
    const close = conversation.close.bind(conversation)
    conversation.close = async (reason) => {
      await closing.here()
      await close(reason)
    }
    world.time.now += idleTimeoutMs + 1
    look()
    await closing.reached
    const opened = service.open(idOf(1))
    const info = service.info(idOf(1), false)
    closing.pass()
    assert.is.not(await opened, conversation)
    assert.is((await info)['id'], idOf(1))
    await (await opened).send(userText('hi'), false)
  })
})

test('an eviction that meets the end of the service leaves everything to it', async () => {
  await withService(async ({ service, world }) => {
    await service.create(conversationOf(1))
    world.time.now += idleTimeoutMs + 1
    look()
    await service.close()
    assert.equal(world.closedIds, [idOf(1)])
  })
})

test('two agents that stop slowly are both waited for', async () => {
  await withService(async ({ service, world }) => {
    const stops = [checkpoint(), checkpoint()]
    for (const [number, stop] of stops.entries()) {
      world.scripts.push(async (turn) => {
        await aborted(turn)
        await stop.here()
        return stopped
      })
      const { conversation } = await service.create(conversationOf(number))
      await conversation.run()
    }
    const closed = service.close()
    await Promise.all(stops.map((stop) => stop.reached))
    for (const stop of stops) stop.pass()
    await closed
    assert.equal(world.agents.map((agent) => agent.closed), [1, 1])
  })
})

test.run()
