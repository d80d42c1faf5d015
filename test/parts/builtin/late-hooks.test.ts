/** Hooks that are loaded with their first use. */
import * as assert from 'uvu/assert'
import type { Hooks } from '../../../src/agents/hooks.ts'
import { AppError, messageOf } from '../../../src/base/errors.ts'
import { hooksOf } from '../../../src/parts/builtin/late-hooks.ts'
import { failure } from '../../support/rpc.ts'
import { suite } from '../../support/suite.ts'

const test = suite('builtin/late-hooks')

test('hooks that cannot be loaded refuse their use, and are closed all the same', async () => {
  let opened = 0
  const hooks = hooksOf({ hookConfig: {} }, async (): Promise<Hooks> => {
    opened++
    throw new AppError('part_missing', 'there is no such part')
  })
  assert.is(messageOf(await failure(hooks.begin())), 'there is no such part')
  await hooks.close()
  assert.is(opened, 1)
})

test('a conversation without hooks, or one that never used them, loads none', async () => {
  const never = async (): Promise<Hooks> => { throw new TypeError('loaded') }
  const none = hooksOf({ hookConfig: null }, never)
  await none.begin()
  assert.equal(none.takeOpening(), [])
  await none.close()
  await hooksOf({ hookConfig: {} }, never).close()
})

test.run()
