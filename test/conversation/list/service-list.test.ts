/** The list that a server leaves to the next server, so that it need not look into every conversation's folder. */
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import * as assert from 'uvu/assert'
import type { Made } from '../../../src/conversation/list/creations.ts'
import { ConversationService } from '../../../src/conversation/list/service.ts'
import type { Created } from '../../../src/conversation/log/origins.ts'
import { Catalogue } from '../../../src/storage/catalogue.ts'
import { openDataFolder } from '../../../src/storage/layout.ts'
import { suite } from '../../support/suite.ts'
import { created, failureOf, withWorld, type World } from '../../support/conversation.ts'

const test = suite('conversation/list/service-list')
// No conversation is closed for being idle.
mock.timers.enable({ apis: ['setInterval'] })
test.after(() => mock.timers.reset())

interface Setup {
  readonly service: ConversationService
  readonly catalogue: Catalogue
  readonly world: World
  readonly again: () => Promise<ConversationService>
}

async function withService(body: (setup: Setup) => Promise<void>): Promise<void> {
  await withWorld(async (world) => {
    const folder = await openDataFolder(join(world.folder, 'data'))
    const services: ConversationService[] = []
    const again = async (): Promise<ConversationService> => {
      const catalogue = await Catalogue.open(folder, () => undefined)
      const service = new ConversationService({ catalogue, deps: world.deps, idleTimeoutMs: 60_000 })
      services.push(service)
      await service.start()
      return service
    }
    try {
      await body({ service: await again(), catalogue: await Catalogue.open(folder, () => undefined), world, again })
    } finally {
      await Promise.all(services.map((one) => one.close()))
    }
  })
}

const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const conversationOf = (number: number, changes: Partial<Created> = {}): Created =>
  created({ id: idOf(number), ...changes })
const listed = (service: ConversationService): string[] => [
  ...service.page({ sortOrder: 'CREATED_AT', limit: 100 }).ids,
]
const listPath = (folder: string): string => join(folder, 'data', 'list.json')

test(
  'after an end in good order no folder is looked into, and what was damaged meanwhile is found when it is opened',
  async () => {
    await withService(async ({ service, catalogue, world, again }) => {
      for (const number of [1, 2, 3]) {
        await service.create(conversationOf(number, { parent_conversation_id: number === 3 ? idOf(1) : null }))
      }
      await service.close()
      await writeFile(join(catalogue.pathOf(idOf(2)), 'state.json'), '')
      await writeFile(join(catalogue.pathOf(idOf(2)), 'events.jsonl'), 'nothing of ours\n')
      const second = await again()
      assert.equal(listed(second), [idOf(1), idOf(2), idOf(3)])
      assert.equal((await second.info(idOf(1), false))['sub_conversation_ids'], [idOf(3)])
      assert.is(await failureOf(second.open(idOf(2))), 'not_found')
      assert.is(await failureOf(second.info(idOf(2), false)), 'not_found')
      assert.match(world.reports.join(), 'A damaged part of a log was set aside')
      // A server that is killed leaves no list.
      assert.equal(listed(await again()), [idOf(1), idOf(3)])
    })
  },
)

test('a keyed request is known by the next server too, whose folders were not looked into', async () => {
  await withService(async ({ service, again }) => {
    const keyed = { key: 'one', digest: 'of it', at: Date.parse('2026-11-21T12:00:00Z') }
    const once = (one: ConversationService, number: number): Promise<Made> =>
      one.creations.once({ keyed, id: idOf(number), settle: async () => conversationOf(number) })
    assert.equal(await once(service, 1), { id: idOf(1), isNew: true })
    await service.close()
    assert.equal(await once(await again(), 2), { id: idOf(1), isNew: true })
  })
})

test(
  'a list that was left is not believed when folders were added, when it was changed, or is not a list',
  async () => {
    await withService(async ({ service, catalogue, world, again }) => {
      for (const number of [1, 2]) await service.create(conversationOf(number))
      await service.close()
      const path = listPath(world.folder)
      const left = await readFile(path)
      const changed = Buffer.from(left)
      changed[left.length - 20] = (changed[left.length - 20] ?? 0) ^ 1
      for (const content of [changed, left.subarray(0, 40), Buffer.alloc(0), Buffer.from('{}')]) {
        await writeFile(path, content)
        assert.equal(listed(await again()), [idOf(1), idOf(2)])
      }
      for (const entries of [{}, [{ id: idOf(1) }], [null]]) {
        await catalogue.listFile.leave(entries)
        assert.equal(listed(await again()), [idOf(1), idOf(2)])
      }
      await writeFile(path, left)
      await rm(catalogue.pathOf(idOf(1)), { recursive: true })
      assert.equal(listed(await again()), [idOf(2)])
    })
  },
)

test('a list is not left by a server that does not own the folder any more', async () => {
  await withService(async ({ catalogue, world, service }) => {
    await service.create(conversationOf(1))
    const other = new ConversationService({ catalogue, deps: world.deps, idleTimeoutMs: 60_000, isOwner: () => false })
    await other.start()
    await other.close()
    assert.not.ok((await readdir(join(world.folder, 'data'))).includes('list.json'))
  })
})

test('a list is not left by a server that could not read all conversations', async () => {
  await withService(async ({ service, catalogue, world, again }) => {
    for (const number of [1, 2]) await service.create(conversationOf(number))
    await service.close()
    await rm(listPath(world.folder))
    await writeFile(join(catalogue.pathOf(idOf(2)), 'state.json'), '')
    await writeFile(join(catalogue.pathOf(idOf(2)), 'events.jsonl'), 'nothing of ours\n')
    await (await again()).close()
    assert.not.ok((await readdir(join(world.folder, 'data'))).includes('list.json'))
  })
})

test.run()
