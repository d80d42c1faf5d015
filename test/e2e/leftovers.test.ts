/**
 * No process left (decisions 26): an agent five levels deep, each level in a session of its own with an orphan beside
 * it, all deaf to SIGTERM, is gone soon after any end: four seconds of grace, then SIGKILL.
 */
import * as assert from 'uvu/assert'
import { mkdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive, pidsIn, until } from '../support/processes.ts'
import { fakeAgent, withPrograms, type Program } from '../support/server.ts'
import { suite } from '../support/suite.ts'
import { startTalk, type Talk } from './talk.ts'

const test = suite('leftovers')
const levels = 5
/** Each level and its orphan. */
const treeSize = 2 * levels

const tree = fileURLToPath(new URL(`../fixtures/process-tree${extname(import.meta.url)}`, import.meta.url))

/** A conversation whose agent has started the tree, which puts its pids into the folder. */
async function talkWithTree(program: Program, behaviour: string): Promise<{ talk: Talk, pids: string }> {
  const pids = join(program.folder, 'pids')
  mkdirSync(pids, { recursive: true })
  const { acp_command } = fakeAgent(behaviour)
  const script = '"$0" "$1" 5 "$2" </dev/null >/dev/null 2>&1 & shift 2; exec "$0" "$@"'
  const [node = '', ...rest] = acp_command
  const agent = {
    kind: 'ACPAgent', acp_command: ['sh', '-c', script, node, tree, pids, ...rest], acp_startup_timeout: 8,
  }
  const talk = await startTalk(program, { agent })
  return { talk, pids }
}

async function untilGrown(pids: string): Promise<void> {
  await until(() => pidsIn(pids).filter(isAlive).length === treeSize)
}

/** All of them end. */
async function untilGone(pids: string): Promise<void> {
  await until(() => !pidsIn(pids).some(isAlive))
}

function testOnLinux(name: string, body: () => Promise<void>): void {
  if (process.platform === 'linux') test(name, body)
  else test.skip(name, 'it needs /proc')
}

testOnLinux('a tree of processes is gone after its conversation was deleted', withPrograms(async (start) => {
  const program = await start()
  const { talk, pids } = await talkWithTree(program, 'echo')
  await talk.send('hello')
  await talk.reaches('finished')
  await untilGrown(pids)
  assert.is((await program.rest.delete(talk.path)).status, 200)
  await untilGone(pids)
}))

testOnLinux('a tree of processes is gone after a handshake that failed', withPrograms(async (start) => {
  const program = await start()
  const { talk, pids } = await talkWithTree(program, 'silent')
  await talk.send('hello')
  await untilGrown(pids)
  await talk.reaches('error')
  await untilGone(pids)
}))

testOnLinux('a tree of processes is gone after the server was stopped', withPrograms(async (start) => {
  const program = await start()
  const { talk, pids } = await talkWithTree(program, 'echo')
  await talk.send('hello')
  await talk.reaches('finished')
  await untilGrown(pids)
  assert.is(await program.stop('SIGTERM'), 0)
  await untilGone(pids)
}))

testOnLinux('a tree of processes is gone after the restart of a server that was killed', withPrograms(async (start) => {
  const program = await start()
  const { talk, pids } = await talkWithTree(program, 'echo')
  await talk.send('hello')
  await talk.reaches('finished')
  await untilGrown(pids)
  await program.stop('SIGKILL')
  assert.is(pidsIn(pids).filter(isAlive).length, treeSize)
  await start()
  await untilGone(pids)
}))

test.run()
