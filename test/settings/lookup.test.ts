/** Whether secret sources resolve to values, which parts of them are secret, and the cost of a failing lookup. */
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import type { SecretSource } from '../../src/schema/generated/secrets.ts'
import { resolveSecrets, type LookupRequest, type ResolveSecretsOptions } from '../../src/settings/lookup.ts'
import { mapSourceSecrets, withoutUnset } from '../../src/settings/secret-source.ts'
import { isCredentialName } from '../../src/settings/secret-values.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/lookup')

const lookup = (url: string, headers: Record<string, string> = {}): SecretSource => ({
  kind: 'LookupSecret', url, headers,
})

function setup(
  change: Partial<ResolveSecretsOptions> = {},
): { options: ResolveSecretsOptions; requests: LookupRequest[] } {
  const requests: LookupRequest[] = []
  const options: ResolveSecretsOptions = {
    serverUrls: ['http://127.0.0.1:8000', 'http://localhost:8000'],
    async globalSecret(name) {
      if (name !== 'GH_TOKEN') throw new AppError('not_found', 'Secret not found')
      return 'global-value'
    },
    async fetchText(request) {
      requests.push(request)
      if (request.url.includes('fail')) throw new AppError('unavailable', 'Cannot fetch: refused')
      if (request.url.includes('bug')) throw new TypeError('canary-secret')
      return 'fetched-value'
    },
    signal: new AbortController().signal,
    ...change,
  }
  return { options, requests }
}

const all = (sources: Record<string, SecretSource>): ReadonlyMap<string, SecretSource> =>
  new Map(Object.entries(sources))

test('gives static values, and nothing for those without one', async () => {
  const { options } = setup()
  const { values, failures } = await resolveSecrets(
    all({
      A: { kind: 'StaticSecret', value: 'x' }, B: { kind: 'StaticSecret' }, C: { kind: 'StaticSecret', value: '' },
    }),
    options,
  )
  assert.equal([...values], [['A', 'x']])
  assert.equal(failures, [])
})

for (const url of [
  '/api/settings/secrets/GH_TOKEN',
  'http://127.0.0.1:8000/api/settings/secrets/GH_TOKEN',
  'http://localhost:8000/prefix/api/settings/secrets/GH_TOKEN?x=1',
]) {
  test(`answers ${url} from the store, without a request`, async () => {
    const { options, requests } = setup()
    const { values } = await resolveSecrets(all({ A: lookup(url, { 'X-Session-API-Key': 'k' }) }), options)
    assert.equal([[...values], requests], [[['A', 'global-value']], []])
  })
}

test('answers a relative address even while the server listens nowhere', async () => {
  const { options } = setup({ serverUrls: [] })
  const { values } = await resolveSecrets(all({ A: lookup('/api/settings/secrets/GH_TOKEN') }), options)
  assert.is(values.get('A'), 'global-value')
})

test('fetches other addresses with their headers and with limits', async () => {
  const { options, requests } = setup()
  const { values } = await resolveSecrets(
    all({ A: lookup('https://vault.example/v1?a=b', { Authorization: 'Bearer x' }) }), options,
  )
  assert.is(values.get('A'), 'fetched-value')
  assert.equal(requests, [{
    url: 'https://vault.example/v1?a=b', headers: { Authorization: 'Bearer x' }, timeoutMs: 30_000, limitBytes: 65_536,
    signal: options.signal,
  }])
})

test('leaves out what fails, says why without secrets, and gives the rest', async () => {
  const { options, requests } = setup()
  const { values, failures } = await resolveSecrets(
    all({
      GOOD: lookup('https://vault.example/ok'),
      FAIL: lookup('https://vault.example/fail'),
      BUG: lookup('https://vault.example/bug'),
      MISSING: lookup('/api/settings/secrets/NOPE'),
      OTHER: lookup('/api/conversations'),
      TRICK: lookup('/api/settings/secrets/%2e%2e%2f%2e%2e'),
      BROKEN: lookup('http://[canary'),
    }),
    options,
  )
  assert.equal([...values.keys()], ['GOOD'])
  assert.equal(failures.filter(({ error }) => error !== undefined).map(({ name }) => name), ['BUG'])
  assert.equal(new Map(failures.map(({ name, reason }) => [name, reason])), new Map([
    ['FAIL', 'Cannot fetch: refused'],
    ['BUG', 'The lookup failed'],
    ['MISSING', 'Secret not found'],
    ['OTHER', 'Cannot look up the secret: expected "/api/settings/secrets/NAME" on this server'],
    ['TRICK', 'Cannot look up the secret: expected "/api/settings/secrets/NAME" on this server'],
    ['BROKEN', 'Cannot look up the secret: expected an http or https address'],
  ]))
  assert.is(requests.length, 3)
})

test('ends with the reason of the signal', async () => {
  const controller = new AbortController()
  const { options } = setup({
    signal: controller.signal,
    async fetchText() {
      controller.abort(new Error('stopped'))
      throw new Error('aborted')
    },
  })
  await resolveSecrets(all({ A: lookup('https://vault.example/') }), options).then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'stopped'),
  )
})

const headers: readonly (readonly [string, boolean])[] = [
  ['Authorization', true], ['proxy-authorization', true], ['Cookie', true], ['X-Session-API-Key', true],
  ['X-Vault-Token', true],
  ['Content-Type', false], ['Author', false], ['Accept', false],
]
for (const [name, expected] of headers) {
  test(`the header ${name} is ${expected ? 'a' : 'no'} secret`, () => assert.is(isCredentialName(name), expected))
}

test('replaces exactly the secret parts of a source', () => {
  const map = (value: string, context: string): string => `${context}=${value.length}`
  assert.equal(mapSourceSecrets({ kind: 'StaticSecret', value: 'abc', description: 'd' }, map), {
    kind: 'StaticSecret', value: 'value=3', description: 'd',
  })
  assert.equal(mapSourceSecrets({ kind: 'StaticSecret', description: 'd' }, map), {
    kind: 'StaticSecret', description: 'd',
  })
  assert.equal(
    mapSourceSecrets(lookup('u', { Cookie: 'abcd', Accept: 'text/plain' }), map),
    lookup('u', { Cookie: 'headers.cookie=4', Accept: 'text/plain' }),
  )
})

test('drops redacted values and headers that are sent back', () => {
  assert.equal(withoutUnset({ kind: 'StaticSecret', value: '**********' }), { kind: 'StaticSecret' })
  assert.equal(
    withoutUnset(lookup('u', { Cookie: '**********', Accept: '**********' })), lookup('u', { Accept: '**********' }),
  )
})

test.run()
