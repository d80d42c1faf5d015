/** The use that a session of hooks makes of its options and of messages; the points themselves are in points.test. */
import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { HookSession } from '../../../src/parts/hooks/session.ts'
import type { JsonObject } from '../../../src/base/json.ts'
import { silentLog } from '../../../src/base/log.ts'
import { startChild } from '../../../src/process/child.ts'
import { toMessage } from '../../../src/schema/generated/values.ts'
import { failureOf } from '../../support/conversation.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('agents/builtin/hooks/session')

async function withSession(
  hookConfig: JsonObject | null, body: (session: HookSession) => Promise<void>,
): Promise<void> {
  const { folder, remove } = makeFolder()
  const host = { conversationId: 'c', workingDir: folder, mask: (text: string) => text, hookConfig }
  const env = { PATH: process.env['PATH'] ?? '' }
  try {
    const session = new HookSession({
      host, env, instance: 'test', createId: randomUUID, startProcess: startChild, log: silentLog,
    })
    await body(session).finally(() => session.close())
  } finally {
    remove()
  }
}

test('without hooks nothing is added and nothing refused', () => withSession(null, async (session) => {
  assert.equal(await session.contextOf(toMessage({ role: 'user', content: 'hi' })), [])
  assert.is(await session.objectionToStop(0, new AbortController().signal), undefined)
  assert.equal(session.takeOpening(), [])
}))

test('a hook is told the words of a message, without its images', async () => {
  const image = { type: 'image', image_urls: ['data:image/png;base64,AA=='] } as const
  const message = toMessage({
    role: 'user', content: [{ type: 'text', text: 'one' }, image, { type: 'text', text: 'two' }],
  })
  const command = `grep -q '"message":"one\\\\ntwo"' || exit 2`
  await withSession({ user_prompt_submit: [{ hooks: [{ command }] }] }, async (session) => {
    assert.equal(await session.contextOf(message), [])
  })
})

test('a beginning that was stopped is made again by who needs it next', async () => {
  await withSession({ session_start: [{ hooks: [{ command: `echo '{"additionalContext":"begun"}'` }] }] }, async (
    session,
  ) => {
    const stop = new AbortController()
    stop.abort(new Error('stopped'))
    assert.is(await failureOf(session.begin(stop.signal)), 'stopped')
    assert.equal(session.takeOpening(), [])
    await session.begin()
    await session.begin()
    assert.equal(session.takeOpening(), ['begun'])
    assert.equal(session.takeOpening(), [])
  })
})

test('after the close nothing is run any more', async () => {
  await withSession({ user_prompt_submit: [{ hooks: [{ command: 'true' }] }] }, async (session) => {
    await session.close()
    await session.close()
    assert.is(await failureOf(session.contextOf(toMessage({ role: 'user', content: 'late' }))), 'conflict')
  })
})

test('hooks that fit no schema are a fault of ours', async () => {
  assert.is(
    await failureOf(withSession({ stop: 1 }, async () => undefined)), 'The stored hooks do not fit their schema',
  )
})

test.run()
