/** Removal of conversations that nobody uses: an open or changed conversation stays. */
import { join } from 'node:path'
import { mock } from 'node:test'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { ConversationService } from '../../../src/conversation/list/service.ts'
import { unusedConversations } from '../../../src/conversation/list/unused.ts'
import { Catalogue } from '../../../src/storage/catalogue.ts'
import { openDataFolder } from '../../../src/storage/layout.ts'
import { created, withWorld } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/list/unused')

const idleTimeoutMs = 60_000

// The service looks for idle conversations when the test says so.
mock.timers.enable({ apis: ['setInterval'] })
test.after(() => mock.timers.reset())

test('a conversation is removed only while it is closed and as it was listed', () => withWorld(async (world) => {
  const catalogue = await Catalogue.open(await openDataFolder(join(world.folder, 'data')), () => undefined)
  const openAtEnd: boolean[] = []
  const deps = { ...world.deps, onClosed: (id: string) => void openAtEnd.push(unused.isOpen(id)) }
  const service = new ConversationService({ catalogue, deps, idleTimeoutMs })
  await service.start()
  const unused = unusedConversations(() => service)
  const close = async (id: string): Promise<void> => {
    world.time.now += idleTimeoutMs * 2
    while (unused.isOpen(id)) {
      mock.timers.tick(idleTimeoutMs)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  try {
    const { conversation } = await service.create(created())
    const { id } = conversation
    const [open] = unused.entries()
    assert.ok(open !== undefined && unused.isOpen(id))
    const refusal = async (): Promise<unknown> => unused.remove(open).catch((error: unknown) => error)
    assert.match(String(await refusal()), 'in use')
    assert.is(service.has(id), true)
    await conversation.patch({ title: 'Changed' })
    await close(id)
    assert.equal(openAtEnd, [true], 'it is open until all is written')
    const changed = await refusal()
    assert.ok(changed instanceof AppError && changed.code === 'conflict', String(changed))
    const [now] = unused.entries()
    assert.ok(now !== undefined)
    assert.is((await unused.state(id)).title, 'Changed')
    await unused.remove(now)
    assert.is(service.has(id), false)
    assert.match(String(await refusal()), 'not found')
  } finally {
    await service.close()
  }
}))

test.run()
