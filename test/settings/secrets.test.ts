/** Whether global secrets are stored, ruled, sealed and masked as contract/settings.md 6 and decisions 12 say. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { createMasker, secretMark, type Masker } from '../../src/base/masking.ts'
import { createCipher } from '../../src/settings/cipher.ts'
import { createSecretStore, type SecretStore } from '../../src/settings/secrets.ts'
import { suite } from '../support/suite.ts'
import { modeOf, shows, textOf, withFolder } from './folder.ts'

const test = suite('settings/secrets')

interface Setup {
  readonly path: string
  readonly masker: Masker
  readonly store: SecretStore
  /** The store of the next start. */
  again(options?: { key?: number; masker?: Masker }): SecretStore
}

function withStore(body: (setup: Setup) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const path = join(folder, 'secrets.json')
    const masker = createMasker()
    const again: Setup['again'] = ({ key = 1, masker: other = masker } = {}) =>
      createSecretStore({
        path,
        masker: other,
        cipher: createCipher({ keys: [Buffer.alloc(32, key)], random: randomBytes }),
        isLoaderVariable: (name) => name === 'LD_PRELOAD',
        secretLimit: 5,
        valueLimitChars: 1000,
      })
    await body({ path, masker, store: again(), again })
  })
}

async function refusal(work: Promise<unknown>): Promise<AppError> {
  try {
    await work
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('Expected a refusal')
}

test('is empty at first', () =>
  withStore(async ({ store }) => {
    assert.equal(await store.list(), [])
    assert.equal([...(await store.values())], [])
  }))

test('a value of any length is stored, listed and given; how it is masked depends on its length', () =>
  withStore(async ({ store, masker }) => {
    const values = { ONE: 'q', THREE: 'q7x', FOUR: 'q7xk', SEVEN: 'q7xk2zw', EIGHT: 'q7xk2zw9' }
    for (const [name, value] of Object.entries(values)) await store.put({ name, value })
    assert.equal(Object.fromEntries(await store.values()), values)
    assert.is((await store.list()).length, 5)
    const shown = (value: string): string => masker.mask(`it is ${value}. (inside${value}inside)`)
    assert.is(shown('q7x'), 'it is q7x. (insideq7xinside)')
    for (const value of ['q7xk', 'q7xk2zw']) assert.is(shown(value), `it is ${secretMark}. (inside${value}inside)`)
    assert.is(shown('q7xk2zw9'), `it is ${secretMark}. (inside${secretMark}inside)`)
  }))

test('replaces a value only while it is the expected one, keeps what describes it, and masks the new one', () =>
  withStore(async ({ store, again, masker }) => {
    await store.put({ name: 'LOGIN', value: 'the-first-value', description: 'mine' })
    assert.is(await store.replace('LOGIN', 'another-value', 'the-second-value'), false)
    assert.is(await store.replace('LOGIN', 'the-first-value', 'the-second-value'), true)
    // Somebody else has stored the same.
    assert.is(await store.replace('LOGIN', 'the-first-value', 'the-second-value'), true)
    assert.is(await store.replace('NONE', 'the-first-value', 'the-second-value'), false)
    assert.is(await again().get('LOGIN'), 'the-second-value')
    assert.equal(await store.list(), [{ name: 'LOGIN', description: 'mine' }])
    assert.is(masker.mask('the-second-value'), secretMark)
    assert.is((await refusal(store.replace('LOGIN', 'the-second-value', 'x'.repeat(2000)))).code, 'invalid_input')
  }))

test('masks every string in a value that is JSON, also after a restart', () =>
  withStore(async ({ store, again }) => {
    const value = JSON.stringify({
      tokens: [{ refresh: 'refresh-token-1' }], key: 'line one\nline two', short: 'abc', count: 12345678,
    })
    await store.put({ name: 'LOGIN', value })
    const masker = createMasker()
    await again({ masker }).list()
    for (const text of ['refresh-token-1', 'line one\nline two', JSON.stringify('line one\nline two').slice(1, -1)]) {
      assert.is(masker.mask(`<${text}>`), `<${secretMark}>`)
    }
    assert.is(masker.mask('abc 12345678'), 'abc 12345678')
  }))

test('stores, lists without values, gives, replaces and deletes', () =>
  withStore(async ({ store, again }) => {
    assert.equal(await store.put({ name: 'GH_TOKEN', value: 'hunter2hunter2', description: 'GitHub' }), {
      name: 'GH_TOKEN', description: 'GitHub',
    })
    assert.equal(await store.put({ name: 'APP', value: 'value' }), { name: 'APP', description: null })
    assert.equal(await store.list(), [{ name: 'APP', description: null }, { name: 'GH_TOKEN', description: 'GitHub' }])
    assert.is(await again().get('GH_TOKEN'), 'hunter2hunter2')
    assert.equal([...(await again().values())], [['GH_TOKEN', 'hunter2hunter2'], ['APP', 'value']])
    await store.put({ name: 'APP', value: 'other', description: null })
    assert.is(await again().get('APP'), 'other')
    await store.delete('APP')
    assert.is((await refusal(store.get('APP'))).message, 'Secret not found')
    assert.is((await refusal(store.delete('APP'))).code, 'not_found')
    assert.equal((await again().list()).map(({ name }) => name), ['GH_TOKEN'])
  }))

for (const value of ['', '  \n', '**********', ' ********** ']) {
  test(`keeps the name without a value for ${JSON.stringify(value)}`, () =>
    withStore(async ({ store, again }) => {
      await store.put({ name: 'API_KEY', value: 'hunter2hunter2' })
      await store.put({ name: 'API_KEY', value })
      assert.equal(await again().list(), [{ name: 'API_KEY', description: null }])
      assert.is((await refusal(again().get('API_KEY'))).code, 'not_found')
      assert.is((await again().values()).size, 0)
    }))
}

for (const name of ['', '1A', '_A', 'A-B', 'A B', 'A'.repeat(65), '__proto__', 'É', 'A\n', 'hunter2 hunter2']) {
  test(`refuses the name ${JSON.stringify(name)} everywhere`, () =>
    withStore(async ({ store }) => {
      for (const use of [
        () => store.put({ name, value: 'hunter2hunter2' }), () => store.get(name), () => store.delete(name),
      ]) {
        const error = await refusal(use())
        assert.is(error.code, 'invalid_input')
        assert.equal(error.issues, [])
        assert.not.ok(name !== '' && error.message.includes(name))
      }
    }))
}

const refused: readonly (readonly [string, string, string])[] = [
  ['a name that changes how programs load', 'LD_PRELOAD', '/tmp/canary-secret.so'],
  ['a NUL character', 'NAME', 'canary\0secret'],
  ['a value that is too long', 'NAME', 'canary'.repeat(200)],
]
for (const [name, secretName, value] of refused) {
  test(`refuses ${name}`, () =>
    withStore(async ({ store }) => {
      const error = await refusal(store.put({ name: secretName, value }))
      assert.is(error.code, 'invalid_input')
      assert.ok(error.message.includes(secretName))
      assert.not.ok(error.message.includes('canary'))
      assert.equal(await store.list(), [])
    }))
}

for (const [name, value] of [
  ['REGION', 'eu'], ['MY_API_KEY', 'k'], ['gh_token', 'canary'], ['DB_PASSWORD', ' pin  '],
] as const) {
  test(`takes a value of any length: ${name}`, () =>
    withStore(async ({ store }) => {
      await store.put({ name, value })
      assert.is(await store.get(name), value)
    }))
}

test('refuses more secrets than the limit, but replaces', () =>
  withStore(async ({ store }) => {
    for (const name of ['A', 'B', 'C', 'D', 'E']) await store.put({ name, value: 'x' })
    assert.is((await refusal(store.put({ name: 'F', value: 'x' }))).code, 'invalid_input')
    await store.put({ name: 'E', value: 'y' })
    assert.is(await store.get('E'), 'y')
  }))

test('loses none of many changes at once', () =>
  withStore(async ({ store, again }) => {
    await Promise.all(['A', 'B', 'C', 'D', 'E'].map((name) => store.put({ name, value: `value of ${name}` })))
    assert.is((await again().values()).size, 5)
  }))

test('writes no value in any readable form, for its owner alone', () =>
  withStore(async ({ store, path }) => {
    const value = 'canary "secret"/é+1'
    await store.put({ name: 'A', value, description: 'kept readable' })
    const text = await textOf(path)
    assert.not.ok(shows(text, value))
    assert.match(text, /"as1:[0-9a-f]{8}:/)
    assert.is(await modeOf(path), '0600')
  }))

test('masks values from the moment they are stored or loaded, and replaced ones still', () =>
  withStore(async ({ store, masker, again }) => {
    await store.put({ name: 'A', value: 'first-secret' })
    assert.is(masker.mask('first-secret'), secretMark)
    await store.put({ name: 'A', value: 'second-secret' })
    await store.delete('A')
    assert.is(masker.mask('first-secret second-secret'), `${secretMark} ${secretMark}`)
    await store.put({ name: 'A', value: 'third-secret' })
    const fresh = createMasker()
    await again({ masker: fresh }).list()
    assert.is(fresh.mask('third-secret'), secretMark)
  }))

test('lets go of the oldest replaced values after a while', () =>
  withStore(async ({ store, masker }) => {
    for (let round = 0; round < 110; round++) await store.put({ name: 'A', value: `secret-number-${round};` })
    assert.is(masker.mask('secret-number-0;'), 'secret-number-0;')
    assert.is(masker.mask('secret-number-50;'), secretMark)
    assert.is(masker.mask('secret-number-109;'), secretMark)
  }))

test('refuses a file that was sealed with another key, and leaves it', () =>
  withStore(async ({ store, path, again }) => {
    await store.put({ name: 'A', value: 'hunter2hunter2' })
    const before = await readFile(path)
    const other = again({ key: 2 })
    const put = (): Promise<unknown> => other.put({ name: 'B', value: 'x' })
    for (const use of [() => other.list(), () => other.get('A'), () => other.values(), () => other.delete('A'), put]) {
      assert.is((await refusal(use())).code, 'settings_unreadable')
    }
    assert.equal(await readFile(path), before)
  }))

test('refuses a file in which the values of two names were swapped', () =>
  withStore(async ({ store, path, again }) => {
    await store.put({ name: 'A', value: 'value of a' })
    await store.put({ name: 'B', value: 'value of b' })
    const content: { secrets: { A: unknown; B: unknown } } = JSON.parse(await textOf(path))
    const { A, B } = content.secrets
    await writeFile(path, JSON.stringify({ ...content, secrets: { A: B, B: A } }))
    assert.is((await refusal(again().list())).code, 'settings_unreadable')
  }))

for (const secrets of [
  undefined, { 'A-B': { value: null, description: null } }, { A: 'x' }, { A: { value: null, description: 1 } },
  { A: { value: 1, description: null } },
]) {
  test(`refuses the content ${JSON.stringify(secrets)}`, () =>
    withStore(async ({ store, path }) => {
      await writeFile(path, JSON.stringify({ version: 1, secrets }))
      assert.is((await refusal(store.list())).code, 'settings_unreadable')
    }))
}

test('takes a value that was written by hand, and seals it with the next change', () =>
  withStore(async ({ store, path }) => {
    await writeFile(
      path, JSON.stringify({ version: 1, secrets: { A: { value: 'by-hand-secret', description: null } } }),
    )
    assert.is(await store.get('A'), 'by-hand-secret')
    await store.put({ name: 'B', value: 'x' })
    assert.not.ok((await textOf(path)).includes('by-hand-secret'))
  }))

test('stored values stay masked after any number of writes that fail', () =>
  withStore(async ({ path, store, masker }) => {
    const values = { ONE: 'the-value-of-one', TWO: 'the-value-of-two' }
    for (const [name, value] of Object.entries(values)) await store.put({ name, value })
    // No file can take the place of a folder.
    await rm(path)
    await mkdir(path)
    for (let time = 0; time < 120; time++) {
      assert.is((await refusal(store.delete('ONE'))).code, 'storage_failed')
      await refusal(store.put({ name: 'TWO', value: `the-refused-value-${time}` }))
    }
    assert.equal(Object.fromEntries(await store.values()), values)
    for (const value of Object.values(values)) assert.is(masker.mask(value), secretMark)
  }))

test.run()
