/** The installed programs that a server starts: only as long as their files are unchanged. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { changeAgents } from '../../../src/parts/install/folder.ts'
import { verifyAgent } from '../../../src/parts/install/install.ts'
import { InstalledAgents } from '../../../src/parts/install/installed-agents.ts'
import { createLog } from '../../../src/base/log.ts'
import { isObject, parseJson } from '../../../src/base/json.ts'
import { suite } from '../../support/suite.ts'
import { codex, inWorld, never } from './world.ts'

const test = suite('installed agents')
const inside = 'node_modules/@agentclientprotocol/codex-acp'

function watch(agentsDir: string): { readonly installed: InstalledAgents, readonly lines: () => unknown[] } {
  const written: string[] = []
  const log = createLog({
    write: (line) => void written.push(line), level: 'info', clock: () => 0, mask: (line) => line,
  })
  const lines = (): unknown[] =>
    written.map((line) => parseJson(line)).filter(isObject).map(({ time: _, ...line }) => line)
  return { installed: new InstalledAgents({ agentsDir, log, clock: Date.now }), lines }
}

async function refusal(installed: InstalledAgents): Promise<string> {
  return String(await installed.commandOf('codex').then(String, (error: unknown) => error))
}

test('starts an installed agent with Node and its entry, and nothing that is not installed', inWorld(async (
  { agentsDir, install },
) => {
  const { installed } = watch(agentsDir)
  assert.is(await installed.commandOf('codex'), undefined)
  const { folder } = await install()
  assert.equal(await installed.commandOf('codex'), [process.execPath, join(agentsDir, folder, inside, 'agent.js')])
  assert.is(await installed.commandOf('gemini-cli'), undefined)
}))

test(
  'does not start one of which an executable was written, replaced or removed',
  inWorld(async ({ agentsDir, install }) => {
    const { installed } = watch(agentsDir)
    const touched = join(agentsDir, (await install()).folder, inside, 'bin/tool')
    writeFileSync(touched, '#!/bin/sh\n')
    assert.match(
      await refusal(installed), `Cannot start the installed agent "codex": its file "${inside}/bin/tool" was changed`,
    )
    const replaced = join(agentsDir, (await install()).folder, inside, 'bin/tool')
    const { atime, mtime } = statSync(replaced)
    const content = readFileSync(replaced)
    const other = `${replaced}.other`
    writeFileSync(other, content)
    rmSync(replaced)
    writeFileSync(replaced, content, { mode: 0o755 })
    rmSync(other)
    utimesSync(replaced, atime, mtime)
    assert.match(await refusal(installed), 'was changed after it was installed; see "agent-server agents verify codex"')
    rmSync(join(agentsDir, (await install()).folder, inside, 'agent.js'))
    assert.match(await refusal(installed), 'agent.js" is missing')
    const folder = join(agentsDir, (await install()).folder, inside, 'agent.js')
    rmSync(folder)
    mkdirSync(folder)
    assert.match(await refusal(installed), 'agent.js" was changed')
  }),
)

test(
  'finds in the background what the quick look cannot see, says so, and starts it again once it was verified',
  inWorld(async ({ agentsDir, install }) => {
    const { folder } = await install()
    const path = join(agentsDir, folder, inside, 'lib/data.js')
    const before = readFileSync(path)
    writeFileSync(path, 'export const data = "date"\n')
    const { installed, lines } = watch(agentsDir)
    assert.not.match(await refusal(installed), 'Cannot start')
    installed.check()
    await installed.checked()
    const about = {
      agent: 'codex', version: '2.6.0', differences: 1, path: `${inside}/lib/data.js`, problem: 'changed',
    }
    assert.equal(lines(), [
      { level: 'error', message: 'The files of an installed agent have changed, so it is not started', ...about },
    ])
    assert.match(await refusal(installed), 'lib/data.js" was changed after it was installed')
    writeFileSync(path, before)
    assert.match(await refusal(installed), 'was changed')
    assert.equal(await verifyAgent(agentsDir, 'codex', { signal: never, clock: () => 1000 }), [])
    assert.not.match(await refusal(installed), 'Cannot start')
    await installed.close()
  }),
)

test('does not start one that was verified and found changed, until its files are right again', inWorld(async (
  { agentsDir, install },
) => {
  const { installed } = watch(agentsDir)
  const { folder } = await install()
  const path = join(agentsDir, folder, inside, 'lib/data.js')
  const before = readFileSync(path)
  writeFileSync(path, 'export const data = "date"\n')
  assert.not.match(await refusal(installed), 'Cannot start')
  const check = { signal: never, clock: Date.now }
  assert.is((await verifyAgent(agentsDir, 'codex', check))?.length, 1)
  assert.match(await refusal(installed), 'lib/data.js" was changed after it was installed')
  assert.match(await refusal(watch(agentsDir).installed), 'was changed')
  writeFileSync(path, before)
  assert.equal(await verifyAgent(agentsDir, 'codex', check), [])
  assert.not.match(await refusal(installed), 'Cannot start')
}))

test(
  'says that what is right is right, checks what it can beside a damaged record, and removes what is not used',
  inWorld(async ({ agentsDir, install }) => {
    const old = await install('script', { version: '2.5.0' })
    await install()
    const first = watch(agentsDir)
    first.installed.check()
    await first.installed.checked()
    assert.equal(first.lines(), [
      { level: 'info', message: 'The files of an installed agent are unchanged', agent: 'codex', version: '2.6.0' },
    ])
    assert.is(existsSync(join(agentsDir, old.folder)), false)
    await install('script', { provider: { ...codex, name: 'broken' } })
    writeFileSync(join(agentsDir, 'broken.json'), '{}')
    const second = watch(agentsDir)
    second.installed.check()
    await second.installed.checked()
    const messages = second.lines().filter(isObject).map(({ level, message, agent }) => [level, message, agent])
    assert.equal(messages, [
      ['error', 'The files of removed agents could not be removed', undefined],
      ['error', 'An installed agent could not be checked', 'broken'],
      ['info', 'The files of an installed agent are unchanged', 'codex'],
    ])
  }),
)

test('leaves the folder alone while a command changes it, and where there is none', inWorld(async (
  { agentsDir, install },
) => {
  const { installed, lines } = watch(agentsDir)
  installed.check()
  await installed.checked()
  assert.is(existsSync(agentsDir), false)
  await install()
  mkdirSync(join(agentsDir, 'new-one'))
  const second = watch(agentsDir)
  await changeAgents(agentsDir, Date.now, async () => {
    second.installed.check()
    await second.installed.checked()
  })
  assert.ok(existsSync(join(agentsDir, 'new-one')))
  assert.is(second.lines().length, 1)
  assert.equal(lines(), [])
}))

test('ends the check when it is closed, without a word', inWorld(async ({ agentsDir, install }) => {
  await install()
  await install('script', { provider: { ...codex, name: 'other' } })
  const { installed, lines } = watch(agentsDir)
  installed.check()
  await installed.close()
  await installed.close()
  assert.equal(lines(), [])
}))

test.run()
