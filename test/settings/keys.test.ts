/** Whether keys are made once, kept for their owner alone, and never replaced by accident. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { createCipher } from '../../src/settings/cipher.ts'
import { loadSealingKeys, loadSessionKey, readSealingKeys, rotateStoredKey } from '../../src/settings/keys.ts'
import { suite } from '../support/suite.ts'
import { modeOf, textOf, withFolder } from './folder.ts'

const test = suite('settings/keys')
/** No key is configured. */
const none = { secretKey: undefined, oldSecretKeys: [] }

test('makes a sealing key on first start and finds it again', () =>
  withFolder(async (data) => {
    const folder = join(data, 'keys')
    const made = await loadSealingKeys({ folder, random: randomBytes, ...none })
    assert.is(made.length, 1)
    assert.is(made[0]?.length, 32)
    assert.is(await modeOf(folder), '0700')
    assert.is(await modeOf(join(folder, 'sealing.json')), '0600')
    assert.equal(await loadSealingKeys({ folder, random: randomBytes, ...none }), made)
  }))

test('takes the configured key and makes none', () =>
  withFolder(async (data) => {
    const folder = join(data, 'keys')
    const keys = await loadSealingKeys({ folder, random: randomBytes, ...none, secretKey: 'pass phrase' })
    assert.equal(keys, await loadSealingKeys({ folder, random: randomBytes, ...none, secretKey: 'pass phrase' }))
    assert.is(keys.length, 1)
    await modeOf(folder).then(() => assert.unreachable(), () => undefined)
  }))

test('still opens what was sealed before there was a configured key, and before it changed', () =>
  withFolder(async (data) => {
    const folder = join(data, 'keys')
    const cipherOf = async (secretKey?: string, ...oldSecretKeys: string[]): Promise<ReturnType<typeof createCipher>> =>
      createCipher({
        keys: await loadSealingKeys({ folder, random: randomBytes, secretKey, oldSecretKeys }), random: randomBytes,
      })
    const first = (await cipherOf()).seal('one', 'a')
    const second = (await cipherOf('old phrase')).seal('two', 'a')
    const rotated = await cipherOf('new phrase', 'old phrase')
    assert.is(rotated.open(first, 'a'), 'one')
    assert.is(rotated.open(second, 'a'), 'two')
    assert.is((await cipherOf('new phrase')).open(second, 'a'), undefined)
  }))

test('a key that was rotated in its folder still opens, and seals no more; nothing is made by reading', () =>
  withFolder(async (data) => {
    const folder = join(data, 'keys')
    assert.equal(await readSealingKeys({ folder, ...none }), [])
    const [first] = await loadSealingKeys({ folder, random: randomBytes, ...none })
    await rotateStoredKey({ folder, random: randomBytes })
    await rotateStoredKey({ folder, random: randomBytes })
    const keys = await loadSealingKeys({ folder, random: randomBytes, ...none })
    assert.is(new Set(keys.map(String)).size, 3)
    assert.equal(keys[2], first)
    assert.equal(await readSealingKeys({ folder, ...none }), keys)
    assert.equal([await modeOf(folder), await modeOf(join(folder, 'sealing.json'))], ['0700', '0600'])
  }))

test('a folder of keys that cannot be made is a failure of the storage, without the whole path', async () => {
  // Nobody can make a folder in /proc.
  const folder = '/proc/not-there/keys'
  for (const load of [
    () => loadSealingKeys({ folder, random: randomBytes, ...none }),
    () => loadSessionKey({ folder, random: randomBytes }),
  ]) {
    const thrown: unknown = await load().then(() => undefined, (error: unknown) => error)
    assert.ok(thrown instanceof AppError && thrown.code === 'storage_failed', String(thrown))
    assert.is(thrown.message, 'Cannot make the folder of keys: ENOENT')
  }
})

test('makes a session key on first start and finds it again', () =>
  withFolder(async (data) => {
    const folder = join(data, 'keys')
    const path = join(folder, 'session.json')
    const made = await loadSessionKey({ folder, random: randomBytes })
    assert.equal({ ...made, key: '' }, { key: '', path, made: true })
    assert.match(made.key, /^[A-Za-z0-9_-]{43}$/)
    assert.is(await modeOf(path), '0600')
    assert.equal(await loadSessionKey({ folder, random: randomBytes }), { key: made.key, path, made: false })
  }))

test('takes back permissions that were too wide', () =>
  withFolder(async (data) => {
    const folder = join(data, 'keys')
    await loadSessionKey({ folder, random: randomBytes })
    await chmod(folder, 0o755)
    await chmod(join(folder, 'session.json'), 0o644)
    await loadSessionKey({ folder, random: randomBytes })
    assert.equal([await modeOf(folder), await modeOf(join(folder, 'session.json'))], ['0700', '0600'])
  }))

for (const text of [
  '', '{', '{"version":2,"key":"x"}', '{"version":1}', '{"version":1,"key":"short-canary"}',
  `{"version":1,"key":"${'k'.repeat(43)}","old_keys":["short-canary"]}`,
]) {
  test(`refuses the key file ${JSON.stringify(text)} and leaves it`, () =>
    withFolder(async (folder) => {
      const path = join(folder, 'sealing.json')
      await mkdir(folder, { recursive: true })
      await writeFile(path, text)
      await loadSealingKeys({ folder, random: randomBytes, ...none }).then(
        () => assert.unreachable(),
        (error: Error) => {
          assert.match(error.message, /^Cannot read "sealing\.json"/)
          assert.not.ok(error.message.includes('canary'))
        },
      )
      assert.is(await textOf(path), text)
    }))
}

test.run()
