/**
 * Data folders of every version that was released (`test/fixtures/record-data-folder`), opened by this one: all that
 * was in them is there as it was, byte for byte where it is history, and goes on.
 */
import * as assert from 'uvu/assert'
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../src/base/json.ts'
import { eventKinds } from '../../src/schema/generated/events.ts'
import { verifyConversation } from '../../src/storage/verify.ts'
import { makeFolder } from '../support/processes.ts'
import { listAt, member, textAt } from '../support/rest.ts'
import { inServer, runToEnd, type TestServer } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { outline, talkTo } from './talk.ts'

const test = suite('recorded folders')
const recorded = fileURLToPath(new URL('../../../test/fixtures/data-folders', import.meta.url))

/** Returns a test that runs `body` with a copy of a recorded folder and the recorded answers of REST. */
function withCopy(version: string, body: (folder: string, expected: unknown) => Promise<void>): () => Promise<void> {
  return async () => {
    const { folder, remove } = makeFolder()
    try {
      cpSync(join(recorded, version, 'data'), join(folder, 'data'), { recursive: true })
      // A checkout with umask 002 lets the group write, which the server refuses.
      for (const name of ['.', 'keys']) chmodSync(join(folder, 'data', name), 0o700)
      for (const name of readdirSync(join(folder, 'data/keys'))) chmodSync(join(folder, 'data/keys', name), 0o600)
      await body(folder, JSON.parse(readFileSync(join(recorded, version, 'expected.json'), 'utf8')))
    } finally {
      remove()
    }
  }
}

/** Every member that was there is there with the same value; a newer version may tell more. */
function assertHolds(value: unknown, expected: unknown, place: string): void {
  // A condenser without a model of its own was recorded as null, and shows the agent's model since then.
  if (expected === null && place.endsWith('agent.condenser.llm')) {
    return assertHolds(value, { usage_id: 'condenser' }, place)
  }
  if (!isObject(expected)) return assert.equal(value, expected, place)
  for (const [name, wanted] of Object.entries(expected)) assertHolds(member(value, name), wanted, `${place}.${name}`)
}

async function checkConversation(server: TestServer, conversation: unknown): Promise<void> {
  const info = member(conversation, 'info')
  const talk = talkTo(server, textAt(info, 'id'))
  const stored = await talk.events()
  const before = listAt(conversation, 'events')
  assert.equal(stored.slice(0, before.length), before)
  const wasRunning = member(info, 'execution_status') === 'running'
  assert.equal(
    outline(stored.slice(before.length)), wasRunning ? ['AgentErrorEvent', 'error ServerRestarted', 'error'] : [],
  )
  const found = (await talk.get()).json
  for (const [name, value] of Object.entries(isObject(info) ? info : {})) {
    // Members that change because a run was cut off.
    const isChanged = wasRunning && ['execution_status', 'updated_at', 'leaf_event_id'].includes(name)
    if (!isChanged) assertHolds(member(found, name), value, name)
  }
}

for (const version of readdirSync(recorded)) {
  for (const caches of ['with', 'without']) {
    test(
      `a folder of ${version} is opened ${caches} its caches, and everything in it is as it was`,
      withCopy(version, async (folder, expected) => {
        const conversations = listAt(expected, 'conversations')
        const directories = conversations.map((item) => {
          return join(folder, 'data', 'conversations', textAt(item, 'info', 'id'))
        })
        if (caches === 'without') {
          for (const directory of directories) {
            for (const name of ['events.index', 'state.json']) rmSync(join(directory, name), { force: true })
          }
        }
        await inServer(folder, async (server) => {
          const { rest } = server
          assert.is(listAt((await rest.get('/api/conversations/search')).json, 'items').length, conversations.length)
          for (const conversation of conversations) await checkConversation(server, conversation)
          assertHolds(
            (await rest.get('/api/settings', { 'X-Expose-Secrets': 'plaintext' })).json,
            member(expected, 'settings'),
            'settings',
          )
          assert.is(
            (await rest.get('/api/settings/secrets/RECORDED_KEY')).text, textAt(expected, 'secrets', 'RECORDED_KEY'),
          )
        })
        for (const directory of directories) {
          assert.equal((await verifyConversation({ directory, kinds: eventKinds })).issues, [])
        }
      }),
    )
  }

  test(
    `conversations of ${version} go on: runs end, questions are answered, forks are made`,
    withCopy(version, (folder, expected) => inServer(folder, async (server) => {
      for (const conversation of listAt(expected, 'conversations')) {
        const talk = talkTo(server, textAt(conversation, 'info', 'id'))
        const wasWaiting = member(conversation, 'info', 'execution_status') === 'waiting_for_confirmation'
        if (wasWaiting) {
          assert.is((await talk.post('/events/respond_to_confirmation', { accept: false, reason: 'no' })).status, 200)
        }
        const forked = talkTo(server, textAt((await talk.post('/fork')).json, 'id'))
        for (const { send, reaches } of [talk, forked]) {
          assert.is((await send('hello')).status, 200)
          await reaches('finished')
        }
        assert.equal((await forked.events()).slice(0, 1), (await talk.events()).slice(0, 1))
      }
    })),
  )

  test(
    `a folder of ${version} that says a newer format is refused in one line and left as it is`,
    withCopy(version, async (folder) => {
      const path = join(folder, 'data', 'format.json')
      const format = { ...JSON.parse(readFileSync(path, 'utf8')), format: 99 }
      writeFileSync(path, JSON.stringify(format))
      const where = ['--port', '0', '--data-dir', join(folder, 'data'), '--workspace-dir', join(folder, 'workspace')]
      const { code, stdout, stderr } = await runToEnd(where, folder)
      assert.equal([code, stdout], [5, ''])
      assert.match(stderr, /^agent-server: Cannot use "[^"]+" as the data folder: its format is 99, this version knows up to 1; use a newer version\n$/)
      assert.equal(JSON.parse(readFileSync(path, 'utf8')), format)
    }),
  )
}

test.run()
