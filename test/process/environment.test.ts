import { suite } from '../support/suite.ts'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/base/errors.ts'
import { baseVariables, buildEnvironment, isLoaderVariable, isServerVariable } from '../../src/process/environment.ts'

const test = suite('process/environment')

test('passes the base set and locale variables, and nothing else', () => {
  const server = { PATH: '/bin', HOME: '/h', LC_ALL: 'C', LC_TIME: 'de', https_proxy: 'http://p', EDITOR: 'vi', TOKEN: 't', UNSET: undefined }
  assert.equal(buildEnvironment({ server }), { PATH: '/bin', HOME: '/h', LC_ALL: 'C', LC_TIME: 'de', https_proxy: 'http://p' })
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
  const server = { SESSION_API_KEY: 's', OH_SECRET_KEY: 's', OH_SESSION_API_KEYS_0: 's', AGENT_SERVER_KEY: 's', AGENT_SERVER_CHILD: 'outer/1' }
  assert.equal(buildEnvironment({ server, pass: Object.keys(server) }), {})
  for (const name of Object.keys(server)) assert.ok(isServerVariable(name), name)
  assert.not.ok(isServerVariable('VENDOR_API_KEY'))
})

test('lets overlays win, the last one most', () => {
  const result = buildEnvironment({
    server: { HOME: '/h', KEY: 'server' },
    pass: ['KEY'],
    overlays: [{ KEY: 'global', A: '1' }, { KEY: 'conversation', HOME: '/private', A: undefined }],
  })
  assert.equal(result, { HOME: '/private', KEY: 'conversation', A: '1' })
})

test('gives overlays any name that programs do not load by, prefixes of the server included', () => {
  assert.equal(buildEnvironment({ server: {}, overlays: [{ OH_CLOUD_TOKEN: 'mine' }] }), { OH_CLOUD_TOKEN: 'mine' })
})

test('does not change its arguments', () => {
  const server = Object.freeze({ HOME: '/h' })
  const overlay = Object.freeze({ HOME: '/x' })
  buildEnvironment({ server, overlays: [overlay] })
  assert.equal(server, { HOME: '/h' })
})

for (const name of ['PATH', 'path', 'NODE_OPTIONS', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'BASH_ENV', 'ENV', 'PYTHONSTARTUP',
  'PERL5OPT', 'GIT_SSH_COMMAND', 'GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0', 'npm_config_script_shell', 'BASH_FUNC_ls%%']) {
  test(`refuses ${name} in an overlay because it changes how programs load`, () => {
    assert.ok(isLoaderVariable(name))
    assertRefused({ [name]: 'x' }, `Cannot set the variable "${name}": it changes how programs load`)
  })
}

test('does not take a name for a loader variable only because it looks similar', () => {
  for (const name of ['GITHUB_TOKEN', 'NPM_TOKEN', 'NODE_AUTH_TOKEN', 'PYTHON_API_KEY', 'MY_PATH', 'OLD_KEY', 'HOME', 'ENVIRONMENT']) {
    assert.not.ok(isLoaderVariable(name), name)
  }
})

test('refuses names and values that no process can be given', () => {
  assertRefused({ '': 'x' }, 'Cannot set the variable "": expected a name without "=" or NUL')
  assertRefused({ 'A=B': 'x' }, 'Cannot set the variable "A=B": expected a name without "=" or NUL')
  assertRefused({ 'A\0': 'x' }, 'Cannot set the variable "A\\u0000": expected a name without "=" or NUL')
  assertRefused({ A: 'secret\0' }, 'Cannot set the variable "A": its value holds a NUL character')
})

function assertRefused(overlay: Record<string, string>, message: string): void {
  assert.throws(
    () => buildEnvironment({ server: {}, overlays: [overlay] }),
    (error: unknown) => error instanceof AppError && error.code === 'invalid_input' && error.message === message,
  )
}

test.run()
