/** Conversations made by requests with idempotency keys: one for each, wherever a kill has cut its log. */
import * as assert from 'uvu/assert'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { member } from '../../support/rest.ts'
import { Creations } from '../../../src/conversation/list/creations.ts'
import { requestLimits, type KeyedRequest } from '../../../src/conversation/log/requests.ts'
import { ConversationService } from '../../../src/conversation/list/service.ts'
import { Catalogue } from '../../../src/storage/catalogue.ts'
import { openDataFolder } from '../../../src/storage/layout.ts'
import {
  answers, created, failureOf, startMillis, story, until, userText, withWorld, type World,
} from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/list/creations')
const keyed: KeyedRequest = { key: 'key', digest: 'digest', at: startMillis }
const message = userText('hello')

interface Setup {
  readonly world: World
  readonly service: ConversationService
  /** Closes the service and starts another one on the same folder. */
  restart(meanwhile?: () => Promise<void>): Promise<ConversationService>
  readonly conversationsDir: string
}

async function withService(body: (setup: Setup) => Promise<void>): Promise<void> {
  await withWorld(async (world) => {
    const folder = await openDataFolder(join(world.folder, 'data'))
    let service: ConversationService | undefined
    const start = async (): Promise<ConversationService> => {
      const catalogue = await Catalogue.open(folder, () => undefined)
      service = new ConversationService({ catalogue, deps: world.deps, idleTimeoutMs: 60_000 })
      await service.start()
      return service
    }
    const restart = async (meanwhile: () => Promise<void> = async () => {}): Promise<ConversationService> => {
      await service?.close()
      await meanwhile()
      return start()
    }
    try {
      await body({ world, service: await start(), restart, conversationsDir: folder.conversations })
    } finally {
      await service?.close()
    }
  })
}

/** Creates a conversation with a message as `POST /api/conversations` does, and returns the answer. */
async function create(service: ConversationService, request = keyed): Promise<object> {
  const { id } = await make(service, request)
  await (await service.open(id)).send(message, true, request)
  return service.firstInfo({ id, request }, false, true)
}

function make(service: ConversationService, request = keyed, id = randomUUID()): ReturnType<Creations['once']> {
  return service.creations.once({ keyed: request, id, settle: async () => created({ id }) })
}

test('a hundred requests with one key make one conversation and get one answer', () => withService(async (
  { service, world },
) => {
  world.scripts.push(answers('done'))
  const infos = await Promise.all(Array.from({ length: 100 }, () => create(service)))
  assert.is(service.count(), 1)
  const conversation = await service.open(String(member(infos[0], 'id')))
  await until(() => !conversation.isRunning)
  await conversation.patch({ title: 'changed' })
  infos.push(await create(service))
  assert.equal(new Set(infos.map((info) => JSON.stringify(info))).size, 1)
  assert.equal([member(infos[0], 'execution_status'), member(infos[0], 'title')], ['running', null])
  assert.equal((await story(conversation)).filter((word) => word === 'user: hello'), ['user: hello'])
}))

test('another request with the same key is refused, under way and later', () => withService(async (
  { service, restart },
) => {
  const first = make(service)
  assert.is(await failureOf(make(service, { ...keyed, digest: 'another' })), 'idempotency_mismatch')
  await first
  const again = await restart()
  assert.is(await failureOf(make(again, { ...keyed, digest: 'another' })), 'idempotency_mismatch')
}))

test('what cannot be settled is not remembered, and settled anew', () => withService(async ({ service }) => {
  const failing = service.creations.once({
    keyed, id: randomUUID(), settle: async () => Promise.reject(new RangeError('not now')),
  })
  assert.is(await failureOf(failing), 'not now')
  assert.is((await make(service, { ...keyed, digest: 'another' })).isNew, true)
}))

test('of two requests for one id, the second waits for the first, and settles only if the first has failed', () => {
  return withService(async ({ service }) => {
    const id = randomUUID()
    const order: string[] = []
    const request = (name: string, fails: boolean): Promise<unknown> => service.creations.once({
      keyed: undefined,
      id,
      settle: async () => {
        order.push(`${name} begins`)
        await new Promise((resolve) => setImmediate(resolve))
        order.push(`${name} ends`)
        if (fails) throw new RangeError(name)
        return created({ id })
      },
    }).catch((thrown: unknown) => thrown)
    const [one, two, three] = await Promise.all([request('one', true), request('two', false), request('three', true)])
    assert.match(String(one), 'one')
    assert.equal([two, three], [{ id, isNew: true }, { id, isNew: false }])
    assert.equal(order, ['one begins', 'one ends', 'two begins', 'two ends'])
  })
})

test('an id that the client has chosen is new for the request that has made it, and for no other', () => withService(
  async ({ service }) => {
    const id = randomUUID()
    assert.equal(await make(service, keyed, id), { id, isNew: true })
    assert.equal(await make(service, keyed, id), { id, isNew: true })
    assert.equal(await make(service, { ...keyed, key: 'another' }, id), { id, isNew: false })
    const unkeyed = { keyed: undefined, id, settle: async () => created({ id }) }
    assert.equal(await service.creations.once(unkeyed), { id, isNew: false })
  },
))

test('a conversation that was deleted is made again', () => withService(async ({ service }) => {
  const { id } = await make(service)
  await service.remove(id)
  assert.is.not((await make(service)).id, id)
}))

test('after a day the key makes another one, and that is found after a restart', () => withService(async (
  { service, restart },
) => {
  const { id } = await make(service)
  const later = { ...keyed, at: startMillis + requestLimits.keptMs }
  const other = await make(service, later)
  assert.is.not(other.id, id)
  assert.is((await make(await restart(), later)).id, other.id)
}))

test('a fork knows no keys of its source', () => withService(async ({ service, restart, conversationsDir }) => {
  await create(service)
  const [id = ''] = service.page({ sortOrder: 'CREATED_AT', limit: 1 }).ids
  const request = { id: randomUUID(), title: null, tags: {}, resetMetrics: true, fromEventId: null }
  const fork = await service.fork(id, request)
  assert.equal([fork.state.created_by, fork.state.requests], [null, []])
  await fork.send(message, false, { ...keyed, digest: 'another' })
  const again = await restart(async () => rm(join(conversationsDir, fork.id, 'state.json'), { force: true }))
  assert.is((await make(again)).id, id)
  assert.equal((await again.open(fork.id)).state.requests.map(({ digest }) => digest), ['another'])
}))

test(
  'wherever a kill has cut the log, a retry completes the one conversation and gets the one answer',
  () => withService(async (setup) => {
    const { service, world, restart, conversationsDir } = setup
    world.scripts.push(answers('done'))
    const info = await create(service)
    const id = String(member(info, 'id'))
    const log = join(conversationsDir, id, 'events.jsonl')
    await until(() => service.count('finished') === 1)
    await restart()
    const lines = (await readFile(log, 'utf8')).split('\n').slice(0, -1)
    assert.ok(lines.length > 6, `${lines.length} lines`)
    for (let count = 1; count <= lines.length; count++) {
      const again = await restart(async () => {
        await writeFile(log, lines.slice(0, count).map((line) => `${line}\n`).join(''))
        for (const name of ['state.json', 'events.index']) await rm(join(conversationsDir, id, name), { force: true })
      })
      const infos = await Promise.all([1, 2, 3].map(() => create(again)))
      assert.equal(infos.map((one) => member(one, 'id')), [id, id, id])
      assert.equal(new Set(infos.map((one) => JSON.stringify(one))).size, 1)
      const conversation = await again.open(id)
      await until(() => !conversation.isRunning)
      const words = await story(conversation)
      const label = `cut behind ${lines[count - 1]?.slice(33, 150)}`
      assert.equal([again.count(), words.filter((word) => word === 'user: hello').length], [1, 1], label)
      assert.is(words.filter((word) => word === 'status running').length, 1, label)
    }
  }),
)

test('the newest ten thousand keys are known', async () => {
  const made: string[] = []
  const conversations = {
    has: (id: string) => !id.startsWith('new') || made.includes(id),
    read: () => Promise.reject(new TypeError('not asked for')),
    create: async ({ id }: { readonly id: string }) => {
      made.push(id)
      return { isNew: true }
    },
  }
  const creations = new Creations(conversations)
  const requestOf = (number: number): KeyedRequest => ({ key: `key ${number}`, digest: '', at: startMillis + number })
  const numbers = Array.from({ length: requestLimits.count }, (_, number) => number)
  creations.load(numbers.map((number) => ({ id: `id ${number}`, request: requestOf(number) })).reverse())
  const once = (number: number): ReturnType<Creations['once']> =>
    creations.once({
      keyed: requestOf(number), id: `new ${number}`, settle: async () => created({ id: `new ${number}` }),
    })
  assert.is((await once(0)).id, 'id 0')
  await once(requestLimits.count)
  assert.is((await once(1)).id, 'id 1')
  assert.is((await once(0)).id, 'new 0')
  assert.equal(made, [`new ${requestLimits.count}`, 'new 0'])
})

test.run()
