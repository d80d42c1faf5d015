/** With `--audit required` a change that cannot be recorded is not made; with `on` it is made all the same. */
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/base/errors.ts'
import { writerOf } from '../../../src/parts/audit/start.ts'
import type { Deed } from '../../../src/http/trail.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/audit: a record that fails')
const full = new AppError('storage_full', 'the disk is full')
const deed: Deed = {
  by: { name: 'ci', keyId: undefined }, address: '::1', operation: 'PATCH /api/settings', target: {}, requestId: 'r',
  isGrave: true,
}
const fails = { append: async () => Promise.reject(full) }

test('required: the deed does not begin', async () => {
  const writer = writerOf({ file: fails, isRequired: true, mask: (text) => text })
  for (const isGrave of [true, false]) {
    assert.is(await writer.begin({ ...deed, isGrave }).then(() => undefined, (thrown: unknown) => thrown), full)
  }
})

test('on: the deed begins, and nothing else fails', async () => {
  const writer = writerOf({ file: fails, isRequired: false, mask: (text) => text })
  for (const isGrave of [true, false]) {
    const end = await writer.begin({ ...deed, isGrave })
    end(200, 'NAME')
  }
  writer.secretsUsed('id', ['NAME'])
  writer.note('key added', 'ci')
})

test('on: a grave deed begins when its record is durable, any other at once', async () => {
  const order: string[] = []
  let settle = (): void => undefined
  const file = { append: () => new Promise<void>((resolve) => (settle = resolve)) }
  const writer = writerOf({ file, isRequired: false, mask: (text) => text })
  await writer.begin({ ...deed, isGrave: false })
  const begun = writer.begin(deed).then(() => order.push('begun'))
  await Promise.resolve()
  order.push('durable')
  settle()
  await begun
  assert.equal(order, ['durable', 'begun'])
})

test('known secrets are masked, and long names cut', async () => {
  const records: object[] = []
  const file = { append: async (record: object) => void records.push(record) }
  const writer = writerOf({ file, isRequired: true, mask: (text) => text.replaceAll('hunter2', '***') })
  await writer.begin({ ...deed, target: { name: 'hunter2', path: 'a/b', key: 'k'.repeat(500), conversation_id: 'id' } })
  const text = JSON.stringify(records)
  assert.not.match(text, 'hunter2')
  assert.not.match(text, 'a/b')
  assert.not.match(text, 'k'.repeat(201))
  assert.match(text, '"conversation":"id"')
})

test.run()
