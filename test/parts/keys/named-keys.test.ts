/** The changes of named keys that a running server is told about. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import * as assert from 'uvu/assert'
import { silentLog } from '../../../src/base/log.ts'
import { OpenKeys } from '../../../src/parts/keys/named-keys.ts'
import { claimDataFolder } from '../../../src/storage/data-folder-claim.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { runKeys } from './named.ts'

const test = suite('parts/keys/named-keys')

// Only the test looks at the folder of the keys.
mock.timers.enable({ apis: ['setInterval'] })
test.after(() => mock.timers.reset())

async function inDataFolder(body: (dataDir: string) => Promise<void>): Promise<void> {
  const { folder, remove } = makeFolder()
  try {
    await claimDataFolder(folder)
    await body(folder)
  } finally {
    remove()
  }
}

test('a key that cannot be read is told as unusable, not as revoked', () => inDataFolder(async (dataDir) => {
  const path = join(dataDir, 'named-keys', 'a.json')
  for (const name of ['a', 'b']) await runKeys(dataDir, ['add', name], { scopes: 'read' })
  const whole = readFileSync(path)
  const changes: string[] = []
  const open = await OpenKeys.open({
    dataDir, clock: Date.now, log: silentLog, hide: () => undefined, keepLimits: async () => undefined,
    onChange: (change, name) => void changes.push(`${change}: ${name}`),
  })
  const changesAfter = async (content: string | Buffer, words: readonly string[]): Promise<string[]> => {
    writeFileSync(path, content)
    await runKeys(dataDir, words, { scopes: 'read' })
    await open.look()
    return changes.splice(0).sort()
  }
  assert.equal(await changesAfter('{', ['add', 'c']), ['key added: c', 'key unusable: a'])
  assert.equal(await changesAfter('{}', ['revoke', 'c']), ['key revoked: c'])
  assert.equal(await changesAfter(whole, ['add', 'c']), ['key added: c', 'key usable: a'])
  assert.equal(await changesAfter('{', ['revoke', 'c']), ['key revoked: c', 'key unusable: a'])
  assert.equal(await changesAfter('{', ['revoke', 'a']), ['key revoked: a'])
  renameSync(join(dataDir, 'named-keys'), join(dataDir, 'kept'))
  writeFileSync(join(dataDir, 'named-keys'), 'no folder')
  await open.look()
  assert.equal(changes.splice(0), ['key unusable: b'])
  rmSync(join(dataDir, 'named-keys'))
  renameSync(join(dataDir, 'kept'), join(dataDir, 'named-keys'))
  await open.look()
  assert.equal(changes, ['key usable: b'])
  await open.close()
}))

test.run()
