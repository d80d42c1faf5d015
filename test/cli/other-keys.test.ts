/** `key` and `console` beside a server that was given its session keys: they say where the key has to come from. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { runToEnd, withPrograms } from '../support/server.ts'
import { suite } from '../support/suite.ts'

const test = suite('cli: a server with given keys')

test('key and console without the key name the option that gives it', withPrograms(async (start, folder) => {
  const file = join(folder, 'key')
  writeFileSync(file, 'a-key-of-the-operator', { mode: 0o600 })
  const { dataDir } = await start(['--session-api-key-file', file], { withKey: false })
  const key = await runToEnd(['key', '--data-dir', dataDir], folder)
  assert.equal([key.code, key.stdout], [1, ''])
  assert.match(key.stderr, 'There is no session key in')
  assert.match(key.stderr, 'its server was given other keys, in --session-api-key-file')
  const refused = await runToEnd(['console', '--data-dir', dataDir], folder)
  assert.equal([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, '(status 401): it has other keys: give its key with --session-api-key-file')
  const opened = await runToEnd(['console', '--data-dir', dataDir, '--session-api-key-file', file], folder)
  assert.is(opened.code, 0, opened.stderr)
}))

test('key in a folder without a server says when the key is made', withPrograms(async (_, folder) => {
  const { code, stderr } = await runToEnd(['key', '--data-dir', join(folder, 'data')], folder)
  assert.is(code, 1)
  assert.match(stderr, 'it is made when the server starts')
}))

test.run()
