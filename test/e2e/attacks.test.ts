/** Hostile and broken clients in small numbers, with a real server: the short form of test/slow/readers/hostile. */
import * as assert from 'uvu/assert'
import { attacks, makeTarget, type Target } from '../load/attacks.ts'
import { runAttack } from '../load/hostile.ts'
import { startBareServer, type BareServer } from '../load/measures.ts'
import { makeFolder } from '../support/processes.ts'
import { startProgram, type Program } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('e2e/attacks')
let program: Program
let target: Target
let bare: BareServer
const { folder, remove } = makeFolder()

test.before(async () => {
  bare = await startBareServer()
  program = await startProgram(folder)
  target = await makeTarget(program, 1)
})
test.after(async () => {
  await program.stop('SIGKILL')
  bare.stop()
  remove()
})

for (const attack of attacks) {
  test(`others are answered during ${attack.what}, and nothing is left of them`, async () => {
    const { memory } = await runAttack(attack, {
      target, pid: program.child.pid, bareUrl: bare.url, largest: 40, seconds: 0.1,
    })
    assert.ok(memory < 200 * 1024 * 1024, `${memory} bytes`)
  })
}

test.run()
