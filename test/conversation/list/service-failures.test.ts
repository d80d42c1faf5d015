/** The service when a conversation goes away during work on it, or could not be created. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../support/suite.ts'
import { AppError } from '../../../src/base/errors.ts'
import { ConversationService } from '../../../src/conversation/list/service.ts'
import { Catalogue } from '../../../src/storage/catalogue.ts'
import { openDataFolder } from '../../../src/storage/layout.ts'
import { conversationId, created, failureOf, withWorld, type World } from '../../support/conversation.ts'

const test = suite('conversation/list/service: failures')

interface Setup {
  readonly service: ConversationService
  readonly catalogue: Catalogue
  readonly world: World
}

function withService(body: (setup: Setup) => Promise<void>): Promise<void> {
  return withWorld(async (world) => {
    const catalogue = await Catalogue.open(await openDataFolder(join(world.folder, 'data')), () => undefined)
    const service = new ConversationService({ catalogue, deps: world.deps, idleTimeoutMs: 60_000 })
    await service.start()
    try {
      await body({ service, catalogue, world })
    } finally {
      await service.close()
    }
  })
}

test('a reading that meets the deletion of its conversation finds none, another failure stays itself', async () => {
  await withService(async ({ service }) => {
    await service.create(created())
    const reading = service.read(conversationId, async (log) => {
      await service.remove(conversationId)
      return log.readRange(0, 1, 1000).then(() => Promise.reject(new Error('the file is closed')))
    })
    assert.is(await failureOf(reading), 'not_found')
    await service.create(created())
    const failing = service.read(conversationId, () => {
      return Promise.reject(new AppError('storage_failed', 'Cannot read the log: EIO'))
    })
    assert.is(await failureOf(failing), 'storage_failed')
    assert.is(await service.read(conversationId, async (log) => log.eventCount), 0)
  })
})

test('lets go of what was settled for a conversation that could not be made', async () => {
  await withService(async ({ service, catalogue, world }) => {
    await writeFile(catalogue.pathOf(conversationId), 'in the way')
    assert.is(await failureOf(service.create(created())), 'storage_failed')
    assert.equal(world.closedIds, [conversationId])
    assert.not.ok(service.has(conversationId))
  })
})

test.run()
