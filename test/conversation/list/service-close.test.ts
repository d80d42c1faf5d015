/** The service after `close()`: no timer is left, not even one that would keep nothing alive. */
import * as assert from 'uvu/assert'
import { createHook } from 'node:async_hooks'
import { join } from 'node:path'
import { ConversationService } from '../../../src/conversation/list/service.ts'
import { Catalogue } from '../../../src/storage/catalogue.ts'
import { openDataFolder } from '../../../src/storage/layout.ts'
import { withWorld } from '../../support/conversation.ts'
import { suite } from '../../support/suite.ts'

const test = suite('conversation/list/service-close')

test('close() leaves no timer', () => withWorld(async (world) => {
  const timers = new Set<number>()
  const hook = createHook({
    init: (id, type) => void (type === 'Timeout' && timers.add(id)),
    destroy: (id) => void timers.delete(id),
  })
  const catalogue = await Catalogue.open(await openDataFolder(join(world.folder, 'data')), () => undefined)
  const service = new ConversationService({ catalogue, deps: world.deps, idleTimeoutMs: 60_000 })
  hook.enable()
  await service.start()
  assert.is(timers.size, 1, 'the one that looks for idle conversations')
  await service.close()
  await new Promise((resolve) => setImmediate(resolve))
  hook.disable()
  assert.is(timers.size, 0)
}))

test.run()
