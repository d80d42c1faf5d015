/** `agent-server prune`, killed again and again: each conversation is whole or gone, and the next pass goes on. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { programFile } from '../../support/program-file.ts'
import { member, textAt } from '../../support/rest.ts'
import { fakeAgent, runToEnd, withPrograms } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/retention: kills', 240_000)

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 100_000)

/** Returns numbers from 0 to 1 that follow from the seed. */
function numbersFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

const title = `a pass that is killed at any moment is finished by the next (seed ${seed})`

test(title, withPrograms(async (start, folder) => {
  const random = numbersFrom(seed)
  const server = await start()
  const made: string[] = []
  for (let number = 0; number < 60; number++) {
    const parent = made.at(-1)
    const below = number % 3 === 0 || parent === undefined ? {} : {
      parent_conversation_id: parent,
      workspace: member((await server.rest.get(`/api/conversations/${parent}`)).json, 'workspace'),
    }
    const { json } = await server.rest.post('/api/conversations', { agent: fakeAgent('answer'), ...below })
    made.push(textAt(json, 'id'))
  }
  await server.stop('SIGTERM')
  const conversations = join(server.dataDir, 'conversations')
  const args = ['prune', '--data-dir', server.dataDir, '--retain-count', '1', '--audit', 'on']
  let kills = 0
  for (let round = 0; round < 25 && readdirSync(conversations).length > 3; round++) {
    const env = { PATH: process.env['PATH'] }
    const child = spawn(process.execPath, [programFile, ...args], { stdio: 'ignore', env })
    const timer = setTimeout(() => child.kill('SIGKILL'), 150 + random() * 500)
    const [, signal] = await once(child, 'close')
    clearTimeout(timer)
    if (signal === 'SIGKILL') kills++
    for (const id of readdirSync(conversations)) {
      assert.ok(existsSync(join(conversations, id, 'events.jsonl')), `half of ${id} is left`)
    }
  }
  assert.ok(kills > 0, 'no command was killed')
  const end = await runToEnd(args, folder)
  assert.is(end.code, 0, end.stderr)
  assert.equal(readdirSync(conversations).sort(), made.slice(-3).sort())
  assert.is((await runToEnd(['verify', '--data-dir', server.dataDir], folder)).code, 0)
  const again = await start()
  assert.is((await again.rest.get('/api/conversations/count')).json, 3)
  assert.equal(readdirSync(join(server.dataDir, 'temporary')), [])
}))

test.run()
