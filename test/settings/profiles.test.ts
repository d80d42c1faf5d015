/** Whether LLM profiles are stored, named, sealed and masked as contract/settings.md 7 and decisions 11 and 12 say. */
import { randomBytes } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createMasker, secretMark, type Masker } from '../../src/base/masking.ts'
import { check } from '../../src/schema/check.ts'
import type { LLM } from '../../src/schema/generated/llm.ts'
import { llmOf, type LLMOptions } from '../support/llm.ts'
import { createCipher, isSealed } from '../../src/settings/cipher.ts'
import { createProfileStore, plainLlm, type ProfileStore } from '../../src/settings/profiles.ts'
import { suite } from '../support/suite.ts'
import { modeOf, shows, withFolder } from './folder.ts'
import { at, refusal } from './store-setup.ts'

const test = suite('settings/profiles')

interface Setup {
  readonly path: string
  readonly masker: Masker
  readonly store: ProfileStore
  /** The store of the next start. */
  again(options?: { key?: number; masker?: Masker }): ProfileStore
  save(name: string, llm: LLMOptions, withSecrets?: boolean): Promise<void>
}

const cipherOf = (key = 1): ReturnType<typeof createCipher> =>
  createCipher({ keys: [Buffer.alloc(32, key)], random: randomBytes })

function withStore(body: (setup: Setup) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const path = join(folder, 'profiles.json')
    const masker = createMasker()
    const again: Setup['again'] = ({ key, masker: other = masker } = {}) =>
      createProfileStore({ path, masker: other, cipher: cipherOf(key), profileLimit: 3, limitChars: 5000 })
    const store = again()
    const save: Setup['save'] = (name, llm, include_secrets = true) =>
      store.save(name, { llm: llmOf(llm), include_secrets })
    await body({ path, masker, store, again, save })
  })
}

const key = 'profile-key-canary'

test('lists no address with credentials in it', () =>
  withStore(async ({ store, save }) => {
    await save('user', { model: 'm', base_url: 'https://me:canary-of-user@host.example.com/v1' })
    await save('query', { model: 'm', base_url: 'https://host.example.com/v1?api_key=canary-of-query' })
    const list = await store.list()
    assert.equal(list.map(({ base_url }) => base_url), ['**********', '**********'])
  }))

const secrets = {
  api_key: key, aws_access_key_id: 'aws-id-canary', aws_secret_access_key: 'aws-key-canary',
  aws_session_token: 'aws-token-canary',
  extra_headers: { 'X-Api-Token': 'header-canary' },
}

test('there is none at first, and none is made unasked', () =>
  withStore(async ({ store, path }) => {
    assert.equal(await store.list(), [])
    assert.is((await refusal(store.load('default'))).message, 'Profile "default" not found')
    assert.is(await readFile(path).catch(() => 'none'), 'none')
  }))

test('profiles are listed by name with their models, addresses and whether there is a key', () =>
  withStore(async ({ store, save }) => {
    await save('second', { model: 'anthropic/claude', api_key: '  ' })
    await save('First.1', { model: 'openai/gpt', api_key: key, base_url: 'http://127.0.0.1:1/v1' })
    await save('linked', { provider_connection_id: 'gone' })
    assert.equal(await store.list(), [
      {
        name: 'First.1', model: 'openai/gpt', base_url: 'http://127.0.0.1:1/v1', provider_connection_id: null,
        provider_connection_broken: false, api_key_set: true,
      },
      {
        name: 'linked', model: 'gpt-5.5', base_url: null, provider_connection_id: 'gone',
        provider_connection_broken: true, api_key_set: false,
      },
      {
        name: 'second', model: 'anthropic/claude', base_url: null, provider_connection_id: null,
        provider_connection_broken: false, api_key_set: false,
      },
    ])
  }))

test('every secret is sealed in a private file and masked, also after the next start', () =>
  withStore(async ({ path, masker, save, again }) => {
    await save('fast', secrets)
    const text = await readFile(path, 'utf8')
    assert.not.match(text, 'canary')
    assert.is(await modeOf(path), '0600')
    assert.is(masker.mask(`is ${key}?`), `is ${secretMark}?`)
    const fresh = createMasker()
    assert.equal(await again({ masker: fresh }).load('fast'), llmOf(secrets))
    for (const value of [
      'profile-key-canary', 'aws-id-canary', 'aws-key-canary', 'aws-token-canary', 'header-canary',
    ]) {
      assert.is(fresh.mask(value), secretMark, value)
    }
  }))

test('a view has no key unless it is asked for, and marks in the place of other secrets', () =>
  withStore(async ({ store, save }) => {
    await save('fast', secrets)
    const redacted = await store.view('fast', 'redacted')
    assert.equal(check('ProfileDetail', redacted), [])
    assert.equal(
      [redacted.config.api_key, redacted.config.aws_session_token, at(redacted.config.extra_headers, 'X-Api-Token')],
      [null, '**********', '**********'],
    )
    assert.is(redacted.api_key_set, true)
    assert.not.ok(shows(JSON.stringify(redacted), 'canary'))
    assert.equal((await store.view('fast', 'plaintext')).config, llmOf(secrets))
    const { config } = await store.view('fast', 'encrypted')
    assert.ok(isSealed(config.api_key ?? '') && isSealed(config.aws_access_key_id ?? ''))
    await store.save('copy', { llm: config, include_secrets: true })
    assert.equal(await store.load('copy'), llmOf(secrets))
  }))

test('a mask, a blank and nothing are no key, and whoever leaves secrets out stores none', () =>
  withStore(async ({ store, save, path }) => {
    for (const api_key of ['**********', ' ', '', null]) {
      await save('fast', { api_key })
      assert.is((await store.load('fast')).api_key, null)
    }
    await save('fast', { ...secrets, model: 'm' }, false)
    assert.equal(await store.load('fast'), llmOf({ model: 'm', extra_headers: {} }))
    assert.not.match(await readFile(path, 'utf8'), /as1:|canary|\*\*\*/)
  }))

test('a token that does not open is refused and changes nothing', () =>
  withStore(async ({ store, save }) => {
    await save('fast', { api_key: key })
    for (const api_key of [
      'as1:00000000:AAAA', cipherOf(9).seal(key, 'llm.api_key'), cipherOf().seal(key, 'secrets.OTHER'),
    ]) {
      assert.is((await refusal(save('fast', { api_key }))).code, 'invalid_input')
    }
    assert.is((await store.load('fast')).api_key, key)
    assert.is(
      plainLlm(
        { llm: llmOf({ api_key: cipherOf().seal(key, 'llm.api_key') }), include_secrets: true }, cipherOf(),
      ).api_key,
      key,
    )
  }))

test('there is a limit of profiles, which replacing one does not reach, and of the length of each', () =>
  withStore(async ({ store, save, path }) => {
    for (const name of ['one', 'two', 'three']) await save(name, {})
    const before = await readFile(path, 'utf8')
    assert.is((await refusal(save('four', {}))).code, 'conflict')
    assert.match(
      (await refusal(save('one', { litellm_extra_body: { a: 'x'.repeat(5000) } }))).message, 'at most 5000 characters',
    )
    assert.is(await readFile(path, 'utf8'), before)
    await save('one', { model: 'other' })
    assert.is((await store.load('one')).model, 'other')
    await Promise.all([store.delete('one'), store.delete('two'), save('four', {}), save('five', {})])
    assert.equal((await store.list()).map(({ name }) => name), ['five', 'four', 'three'])
  }))

test('there are fifty of them by default', () =>
  withFolder(async (folder) => {
    const store = createProfileStore({
      path: join(folder, 'profiles.json'), masker: createMasker(), cipher: cipherOf(),
    })
    const saved = Array.from({ length: 51 }, (_, index) => {
      return store.save(`p${index}`, { llm: llmOf({}), include_secrets: true })
    })
    assert.is((await Promise.allSettled(saved)).filter(({ status }) => status === 'fulfilled').length, 50)
    assert.is((await store.list()).length, 50)
  }))

test('a profile that is renamed keeps its secrets, and they stay masked when the old name is used anew', () =>
  withStore(async ({ store, save, masker, again }) => {
    await save('old', { api_key: key })
    await save('other', {})
    assert.is((await refusal(store.rename('none', 'new'))).code, 'not_found')
    assert.is((await refusal(store.rename('old', 'other'))).code, 'conflict')
    await store.rename('old', 'old')
    await store.rename('old', 'new')
    assert.is((await refusal(store.load('old'))).code, 'not_found')
    assert.is((await again().load('new')).api_key, key)
    for (let index = 0; index < 105; index++) await save('old', { api_key: `another-key-${index}` })
    assert.is(masker.mask(key), secretMark)
  }))

test('to remove a profile twice is no failure, and names of members of objects are names like others', () =>
  withStore(async ({ store, save, again }) => {
    for (const name of ['constructor', 'toString']) await save(name, { model: name })
    await store.delete('constructor')
    await store.delete('constructor')
    assert.equal((await again().list()).map(({ name, model }) => [name, model]), [['toString', 'toString']])
    assert.is((await refusal(store.load('valueOf'))).code, 'not_found')
  }))

test('a link to a provider connection is kept and shown, and the profile is not used', () =>
  withStore(async ({ store, save }) => {
    await save('linked', { provider_connection_id: 'gone' })
    assert.is((await store.view('linked', 'redacted')).config.provider_connection_id, 'gone')
    assert.is((await refusal(store.load('linked'))).code, 'invalid_input')
  }))

const damaged: readonly (readonly [string, (stored: LLM) => unknown])[] = [
  ['no object', () => 7],
  ['without a model', () => ({})],
  ['with a wrong member', (stored) => ({ llm: { ...stored, model: { canary: 1 } } })],
  ['with a token of another place', (stored) => ({ llm: { ...stored, api_key: cipherOf().seal(key, 'secrets.X') } })],
  ['with a token of another key', (stored) => ({ llm: { ...stored, api_key: cipherOf(9).seal(key, 'llm.api_key') } })],
]
for (const [what, damage] of damaged) {
  test(`a stored profile ${what} costs no other, is not listed, and stays until it is replaced or removed`, () =>
    withStore(async ({ path, save, again }) => {
      await save('sound', { api_key: key })
      const file: { profiles: Record<string, unknown> } = JSON.parse(await readFile(path, 'utf8'))
      const bad = damage(llmOf({}))
      await writeFile(path, JSON.stringify({ ...file, profiles: { ...file.profiles, bad } }))
      const store = again()
      assert.equal((await store.list()).map(({ name }) => name), ['sound'])
      const error = await refusal(store.load('bad'))
      assert.is(error.code, 'bad_request')
      assert.not.match(error.message, 'canary')
      assert.is((await refusal(store.view('bad', 'plaintext'))).code, 'bad_request')
      await store.rename('bad', 'worse')
      assert.equal(at(JSON.parse(await readFile(path, 'utf8')), 'profiles', 'worse'), bad)
      await store.save('worse', { llm: llmOf({ model: 'new' }), include_secrets: true })
      assert.is((await store.load('worse')).model, 'new')
    }))
}

test('what stands under a name that no request can have is not listed, and left as it is', () =>
  withStore(async ({ path, store, save }) => {
    await writeFile(path, JSON.stringify({ version: 1, profiles: { 'a b': { llm: { model: 'm' } } } }))
    await save('mine', {})
    assert.equal((await store.list()).map(({ name }) => name), ['mine'])
    assert.equal(at(JSON.parse(await readFile(path, 'utf8')), 'profiles', 'a b'), { llm: { model: 'm' } })
  }))

test('what was written by hand is taken as it stands, and sealed with the next change', () =>
  withStore(async ({ path, store, masker }) => {
    await writeFile(path, JSON.stringify({ version: 1, profiles: { mine: { llm: { model: 'm', api_key: key } } } }))
    assert.is((await store.load('mine')).api_key, key)
    assert.is(masker.mask(key), secretMark)
    await store.rename('mine', 'yours')
    assert.not.match(await readFile(path, 'utf8'), key)
  }))

for (const text of [
  '', 'not json', '{}', '{"version":2,"profiles":{}}', '{"version":1}', '{"version":1,"profiles":[]}',
]) {
  test(`a file that holds ${text === '' ? 'nothing' : text} is refused and left as it is`, () =>
    withStore(async ({ path, store, save }) => {
      await writeFile(path, text)
      await chmod(path, 0o600)
      for (const work of [
        () => store.list(), () => store.load('a'), () => save('a', {}), () => store.delete('a'),
        () => store.rename('a', 'b'),
      ]) {
        assert.is((await refusal(work())).code, 'settings_unreadable')
      }
      assert.is(await readFile(path, 'utf8'), text)
    }))
}

test.run()
