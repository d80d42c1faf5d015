/** Environment variables by their use, and addresses. */
import * as assert from 'uvu/assert'
import { addressesOf } from '../../../scripts/audit/surface.ts'
import { variablesOf } from '../../../scripts/audit/variables.ts'
import { readSource } from '../../../scripts/shape/source-file.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/audit/variables')

const uses: readonly [text: string, shown: readonly string[]][] = [
  ["const a = environment['SESSION_API_KEY']", ['SESSION_API_KEY read']],
  ["env['CODEX_HOME'] = a", ['CODEX_HOME set']],
  ['const a = ({ XDG_RUNTIME_DIR: own }: Environment) => own', ['XDG_RUNTIME_DIR read']],
  ['const { HOME: home } = environment', ['HOME read']],
  ['run({ own: { GIT_ASKPASS: a, HOME: b } })', ['GIT_ASKPASS set', 'HOME set']],
  ['const a = `OH_SESSION_API_KEYS_${index}`', ['OH_SESSION_API_KEYS_* read']],
  [
    "export const baseVariables: readonly string[] = ['TZ', 'LOGNAME', 'http_proxy']",
    ['TZ passed on', 'LOGNAME passed on', 'http_proxy passed on'],
  ],
  ["const a = { variables: ['GEMINI_MODEL'], homeVariable: 'HOME' }", ['GEMINI_MODEL for agents', 'HOME read']],
  [
    "const steeringNames: ReadonlySet<string> = new Set([\n  'ENV', 'BASH_ENV',\n])\n" +
      "const steeringPrefixes = ['LUA_INIT']",
    ['ENV refused', 'BASH_ENV refused', 'LUA_INIT refused'],
  ],
  ["const a = ['NO_BROWSER', 'ERR_STREAM', 'other']", ['NO_BROWSER named']],
]
for (const [text, shown] of uses) {
  test(`tells the use of ${shown.join(', ')}`, () => {
    const found = variablesOf([readSource('src/a.ts', `${text}\n`)])
    assert.equal(found.map(({ name, use }) => `${name} ${use}`), shown)
  })
}

test('finds addresses with digits, inside texts and in templates', () => {
  const lines = [
    "const a = 'http://127.0.0.1:11434/v1'", 'const b = `https://github.com/${name}`', "const c = 'see wss://a.b/c, d'",
    "const d = 'http://[::1]:80'", "const e = 'http: //none' // http://comment", 'const f = `http://${host}`',
  ]
  assert.equal(addressesOf([readSource('src/a.ts', `${lines.join('\n')}\n`)]).map(({ name }) => name), [
    'http://127.0.0.1:11434/v1', 'https://github.com/...', 'wss://a.b/c', 'http://[::1]:80',
  ])
})

test.run()
