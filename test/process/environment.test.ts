import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { baseVariables, buildEnvironment, isServerVariable } from '../../src/process/environment.ts'

const test = suite('process/environment')

test('passes the base set and locale variables, and nothing else', () => {
  const server = {
    PATH: '/bin', HOME: '/h', LC_ALL: 'C', LC_TIME: 'de', https_proxy: 'http://p', EDITOR: 'vi', TOKEN: 't',
    UNSET: undefined,
  }
  assert.equal(buildEnvironment({ server }), {
    PATH: '/bin', HOME: '/h', LC_ALL: 'C', LC_TIME: 'de', https_proxy: 'http://p',
  })
})

test('passes every variable of the base set', () => {
  const server = Object.fromEntries(baseVariables.map((name) => [name, `${name}-value`]))
  assert.equal(buildEnvironment({ server }), server)
})

test('passes named extras, also one that changes how programs load, since the operator named it', () => {
  const server = { VENDOR_API_KEY: 'k', NODE_OPTIONS: '--no-warnings', OTHER: 'o' }
  assert.equal(buildEnvironment({ server, pass: ['VENDOR_API_KEY', 'NODE_OPTIONS', 'MISSING'] }), {
    VENDOR_API_KEY: 'k',
    NODE_OPTIONS: '--no-warnings',
  })
})

test('never passes the keys of the server, even when they are named', () => {
  const server = {
    SESSION_API_KEY: 's', OH_SECRET_KEY: 's', OH_SESSION_API_KEYS_0: 's', AGENT_SERVER_KEY: 's',
    AGENT_SERVER_CHILD: 'outer/1',
  }
  assert.equal(buildEnvironment({ server, pass: Object.keys(server) }), {})
  for (const name of Object.keys(server)) assert.ok(isServerVariable(name), name)
  assert.not.ok(isServerVariable('VENDOR_API_KEY'))
})

test('lets secrets win, the last one most, and what the server sets itself over all', () => {
  const result = buildEnvironment({
    server: { HOME: '/h', KEY: 'server' },
    pass: ['KEY'],
    secrets: [{ KEY: 'global', A: '1', B: '1' }, { KEY: 'conversation', A: undefined }],
    own: { HOME: '/private', B: '2' },
  })
  assert.equal(result, { HOME: '/private', KEY: 'conversation', A: '1', B: '2' })
})

test('gives secrets any name that does not steer programs, prefixes of the server included', () => {
  assert.equal(buildEnvironment({ server: {}, secrets: [{ OH_CLOUD_TOKEN: 'mine' }] }), { OH_CLOUD_TOKEN: 'mine' })
})

test('does not change its arguments', () => {
  const server = Object.freeze({ HOME: '/h' })
  const secret = Object.freeze({ KEY: '/x' })
  buildEnvironment({ server, secrets: [secret], own: secret })
  assert.equal(server, { HOME: '/h' })
})

test('refuses a secret that would steer programs, and sets such a variable itself', () => {
  for (const name of ['PATH', 'TAR_OPTIONS', 'HOME']) {
    assertRefused({ [name]: 'x' }, `Cannot set the variable "${name}": it changes how programs load`)
    assert.equal(buildEnvironment({ server: {}, own: { [name]: 'x' } }), { [name]: 'x' })
  }
})

test('refuses names and values that no process can be given', () => {
  assertRefused({ '': 'x' }, 'Cannot set the variable "": expected a name without "=" or NUL')
  assertRefused({ 'A=B': 'x' }, 'Cannot set the variable "A=B": expected a name without "=" or NUL')
  assertRefused({ 'A\0': 'x' }, 'Cannot set the variable "A\\u0000": expected a name without "=" or NUL')
  assertRefused({ A: 'secret\0' }, 'Cannot set the variable "A": its value holds a NUL character')
})

function assertRefused(secret: Record<string, string>, message: string): void {
  assert.throws(
    () => buildEnvironment({ server: {}, secrets: [secret] }),
    (error: unknown) => error instanceof AppError && error.code === 'invalid_input' && error.message === message,
  )
}

test.run()
