/**
 * Two servers on one folder of a system without flock(1), which is hidden in a mount namespace of its own (unshare(1),
 * as root): an owner that stands still for longer than its lock holds is replaced, and writes nothing when it goes on.
 */
import * as assert from 'uvu/assert'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../src/base/errors.ts'
import { messagesOf, outline, startTalk, talkTo } from '../../e2e/talk.ts'
import { until } from '../../support/processes.ts'
import { runToEnd, withPrograms, type Program } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'

const test = suite('slow/process/heartbeat', 300_000)
/** Starts the command behind it where flock(1) says that the file system has no locks. */
const hidden = ['unshare', '-m', 'sh', '-c', 'printf "#!/bin/sh\\nexit 71\\n' +
  '" > "$HOME/flock"; chmod +x "$HOME/flock"; mount --bind "$HOME/flock" "$(command -v flock)"; exec "$@"', 'sh']
const name = 'a stopped owner is replaced after 45 s, writes nothing when it goes on, and ends with 4'

function refusal(): string | undefined {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' })
    return undefined
  } catch (thrown) {
    return messageOf(thrown)
  }
}

const why = refusal()
if (why !== undefined) test.skip(name, why)
else test(name, withPrograms(async (start, folder) => {
  const owner = await start([], { withKey: true, launcher: hidden })
  assert.ok(existsSync(join(owner.dataDir, 'lock.heartbeat')))
  const talk = await startTalk(owner)
  await talk.send('run: sleep 300')
  await until(async () => outline(await talk.events()).includes('TerminalAction'))
  const idle = await startTalk(owner)
  await idle.send('of the first', false)
  owner.child.kill('SIGSTOP')
  const begun = Date.now()
  const next = await nextOwner(() => start([], { withKey: true, launcher: hidden }))
  const afterMs = Date.now() - begun
  assert.ok(afterMs >= 34_000, `taken after ${afterMs} ms`)
  process.stdout.write(`the folder of a stopped owner was taken ${afterMs} ms after it stopped\n`)
  await talkTo(next, idle.id).send('of the second', false)
  await talkTo(next, talk.id).send('of the second', false)
  // The requests to write wait in its sockets when it goes on.
  const late = Array.from({ length: 20 }, (_, number) => {
    return talkTo(owner, idle.id).send(`late ${number}`, false).then(({ status }) => status, () => 0)
  })
  owner.child.kill('SIGCONT')
  assert.ok((await Promise.all(late)).every((status) => status !== 200))
  assert.is(await owner.stop('SIGCONT'), 4)
  for (const { id } of [idle, talk]) assert.is((await talkTo(next, id).send('and more', false)).status, 200)
  assert.equal(messagesOf(await talkTo(next, idle.id).events(), 'user'), ['of the first', 'of the second', 'and more'])
  assert.is(await next.stop('SIGTERM'), 0)
  const { code, stdout } = await runToEnd(['verify', '--data-dir', next.dataDir], folder)
  assert.is(code, 0, stdout)
}))

/** Starts until the folder is given. */
async function nextOwner(start: () => Promise<Program>): Promise<Program> {
  let found: Program | undefined
  await until(async () => {
    found = await start().catch((error: unknown) => {
      assert.match(String(error), 'another server owns it')
      return undefined
    })
    return found !== undefined
  })
  if (found === undefined) throw new Error('Expected a server')
  return found
}

test.run()
