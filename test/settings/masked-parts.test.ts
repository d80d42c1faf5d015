/** Which parts of a credential are hidden: the parts that are secret by nature, and no others. */
import * as assert from 'uvu/assert'
import { createMasker, secretMark } from '../../src/base/masking.ts'
import { maskedParts } from '../../src/settings/masked-parts.ts'
import { suite } from '../support/suite.ts'

const test = suite('settings/masked-parts')

const keyLines = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'Bq0wggSpAgEAAoIBAQC7VJTUt9Us8cKj', 'q7Zk1w==']
const key = `-----BEGIN PRIVATE KEY-----\n${keyLines.join('\n')}\n-----END PRIVATE KEY-----\n`
const serviceAccount = {
  type: 'service_account',
  project_id: 'my-project-123456',
  private_key_id: '9f8e7d6c5b4a39281706f5e4d3c2b1a098765432',
  private_key: key,
  client_email: 'robot@my-project-123456.iam.gserviceaccount.com',
  client_id: '123456789012345678901',
  auth_uri: 'https://accounts.google.com/o/oauth2/auth',
  token_uri: 'https://oauth2.googleapis.com/token',
  client_x509_cert_url: 'https://www.googleapis.com/robot/v1/metadata/x509/robot',
  universe_domain: 'googleapis.com',
}

function masked(value: string, text: string): string {
  const masker = createMasker()
  masker.register(maskedParts(value))
  return masker.mask(text)
}

for (const [name, json] of [
  ['one line', JSON.stringify(serviceAccount)], ['lines', JSON.stringify(serviceAccount, undefined, 2)],
] as const) {
  test(`of a service account in ${name} the private key is hidden and nothing else`, () => {
    const { private_key: _key, ...rest } = serviceAccount
    for (const value of Object.values(rest)) assert.is(masked(json, `a ${value} b`), `a ${value} b`)
    assert.is(masked(json, `a ${key.trim()} b`), `a ${secretMark} b`)
    assert.equal(JSON.parse(masked(json, json)), { ...serviceAccount, private_key: `${secretMark}\n` })
    const encoded = masked(json, Buffer.from(json).toString('base64'))
    assert.not.ok(
      Buffer.from(encoded.replaceAll(secretMark, '!')).toString().includes(
        Buffer.from(keyLines[1] ?? '').toString('base64').slice(4, -4),
      ),
    )
  })
}

test('a key in lines is hidden where only some of them are shown, with anything in front', () => {
  for (const line of keyLines) {
    for (const text of [line, `12:${line}`, `     3\t${line}`, `key.pem:2:${line}`, `+${line}`]) {
      assert.not.ok(masked(key, text).includes(line), text)
      assert.not.ok(masked(JSON.stringify(serviceAccount), text).includes(line), text)
    }
  }
  assert.is(masked(key, '-----BEGIN PRIVATE KEY-----'), '-----BEGIN PRIVATE KEY-----')
})

const nested: readonly (readonly [object, readonly string[], readonly string[]])[] = [
  [{
    claudeAiOauth: {
      accessToken: 'sk-ant-oat01-x', refreshToken: 'sk-ant-ort01-y', expiresAt: 1763800000000,
      scopes: ['user:inference'], subscriptionType: 'max',
    },
  },
    ['sk-ant-oat01-x', 'sk-ant-ort01-y'], ['1763800000000', 'user:inference', 'max']],
  [{
    tokens: { id_token: 'first-token-1', account_id: 'acc-12345678' },
    OPENAI_API_KEY: 'sk-proj-12',
    last_refresh: '2026-11-22T10:00:00Z',
  },
    ['first-token-1', 'sk-proj-12'], ['acc-12345678', '2026-11-22T10:00:00Z']],
  [{ auths: { 'https://index.docker.io/v1/': { auth: 'dXNlcjpwYXNz' } } }, ['dXNlcjpwYXNz'],
    ['https://index.docker.io/v1/']],
  [{ password: 12345678, port: 15432123 }, ['12345678'], ['15432123']],
  [{ note: 'words that an agent wrote', other: 'AbCdEfGh1234567890xyz' }, ['AbCdEfGh1234567890xyz'],
    ['words that an agent wrote']],
]
for (const [json, hidden, shown] of nested) {
  test(`of ${Object.keys(json).join(', ')} hides ${hidden.join(', ')}`, () => {
    for (const value of hidden) assert.is(masked(JSON.stringify(json), `"${value}"`), `"${secretMark}"`)
    for (const value of shown) assert.is(masked(JSON.stringify(json), `"${value}"`), `"${value}"`)
  })
}

test('of a file of assignments the values that names or looks give away are hidden', () => {
  const file = '[default]\nregion = eu-central-1\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxR\n' +
    'export GH_TOKEN="ghp_16C7e42F292c6912E7"\nuser: somebody-special\n'
  for (const value of ['wJalrXUtnFEMI/K7MDENG/bPxR', 'ghp_16C7e42F292c6912E7', file.trim()]) {
    assert.is(masked(file, value), secretMark)
  }
  for (const value of ['eu-central-1', 'somebody-special', '[default]', 'region']) assert.is(masked(file, value), value)
})

test('a value that is no credential file is hidden whole', () => {
  for (const value of ['hunter2hunter2', '{"a":"hunter22"}', '[1, 2, 3, 4]', '{ no json']) {
    assert.equal(maskedParts(value), [value])
  }
})

test('takes no long time for hostile lines', () => {
  for (const line of [`a=${' '.repeat(60_000)}\u2028`, `${'a'.repeat(60_000)}=`, `a${' '.repeat(60_000)}b`]) {
    maskedParts(`${line}\n${line}`)
  }
})

test.run()
