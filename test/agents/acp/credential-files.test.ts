/**
 * Credential files: where they lie, who may read them, which files come back and when, and which are left afterwards.
 */
import {
  existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  lendFiles, recoverFiles, type LentFiles, type ReplaceSecret,
} from '../../../src/agents/acp/session/credential-files.ts'
import type { Log } from '../../../src/base/log.ts'
import type { SecretChange } from '../../../src/conversation/agent/host.ts'
import type { AcpFileSecret } from '../../../src/schema/generated/settings.ts'
import { until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'

const test = suite('acp credential files')

const codexFile: AcpFileSecret = {
  secret_name: 'CODEX_AUTH_JSON', filename: 'auth.json', env_var: 'CODEX_HOME', subdir: 'codex', env_points_to: 'dir',
  warn_if_unset: [],
}
const googleFile: AcpFileSecret = {
  secret_name: 'GOOGLE_APPLICATION_CREDENTIALS_JSON', filename: 'gcloud-credentials.json',
  env_var: 'GOOGLE_APPLICATION_CREDENTIALS',
  subdir: 'gemini-cli', env_points_to: 'file', warn_if_unset: [],
}
const first = '{"tokens":{"refresh_token":"the-first-token"}}'
const second = '{"tokens":{"refresh_token":"the-second-token"}}'
const third = '{"tokens":{"refresh_token":"the-third-token"}}'

interface World {
  readonly runtimeDir: string
  readonly agentDir: string
  readonly changes: SecretChange[]
  readonly lines: string[]
  readonly log: Log
  /** How the store answers. */
  answer: ReplaceSecret
  lend(values?: Readonly<Record<string, string>>, watchIntervalMs?: number): Promise<LentFiles>
}

/** A body with folders of its own. Lent files that it leaves open are closed. */
function inWorld(body: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lent-test-'))
    const runtimeDir = join(folder, 'runtime')
    mkdirSync(runtimeDir)
    const open: LentFiles[] = []
    const lines: string[] = []
    const shown = (_: string, value: unknown): unknown => value instanceof Error ? value.message : value
    const write = (message: string, fields = {}): void => void lines.push(`${message} ${JSON.stringify(fields, shown)}`)
    const world: World = {
      runtimeDir,
      agentDir: join(folder, 'acp'),
      changes: [],
      lines,
      log: { debug: write, info: write, warn: write, error: write },
      answer: async () => true,
      async lend(
        values = { CODEX_AUTH_JSON: first, GOOGLE_APPLICATION_CREDENTIALS_JSON: first }, watchIntervalMs = 3_600_000,
      ) {
        const { agentDir, log } = world
        const secrets = new Map(Object.entries(values))
        const replaceSecret: ReplaceSecret = (change) => {
          world.changes.push(change)
          return world.answer(change)
        }
        const lent = await lendFiles({
          fileSecrets: [codexFile, googleFile], secrets, makeSecretDir: async () => runtimeDir, agentDir, replaceSecret,
          log, watchIntervalMs,
        })
        open.push(lent)
        return lent
      },
    }
    try {
      await body(world)
    } finally {
      for (const lent of open) await lent.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

test(
  'lends each file for its owner alone, below the runtime directory, and says where it is',
  inWorld(async ({ lend, runtimeDir, agentDir }) => {
    const { variables } = await lend()
    const { CODEX_HOME = '', GOOGLE_APPLICATION_CREDENTIALS: file = '' } = variables
    assert.is(CODEX_HOME, join(agentDir, 'codex'))
    assert.ok(file.startsWith(runtimeDir) && file.endsWith('/gcloud-credentials.json'))
    for (const path of [join(CODEX_HOME, 'auth.json'), file]) {
      assert.is(readFileSync(path, 'utf8'), first)
      assert.is(statSync(path).mode & 0o777, 0o600)
    }
    assert.ok(lstatSync(join(CODEX_HOME, 'auth.json')).isSymbolicLink())
    for (const folder of [CODEX_HOME, join(file, '..'), join(file, '../..')]) {
      assert.is(statSync(folder).mode & 0o777, 0o700)
    }
  }),
)

test('lends nothing, and makes no folder, where there is no such secret or it is blank', inWorld(async (
  { lend, runtimeDir },
) => {
  const { variables } = await lend({ CODEX_AUTH_JSON: ' ', OTHER: 'x' })
  assert.equal([variables, readdirSync(runtimeDir)], [{}, []])
}))

test('takes a renewed login back, each change once, from the value that was lent or stored last', inWorld(async (
  { lend, changes },
) => {
  const lent = await lend({ CODEX_AUTH_JSON: first })
  const path = join(lent.variables['CODEX_HOME'] ?? '', 'auth.json')
  await lent.readBack()
  assert.equal(changes, [])
  writeFileSync(path, second)
  await Promise.all([lent.readBack(), lent.readBack()])
  writeFileSync(path, third)
  await lent.close()
  const name = 'CODEX_AUTH_JSON'
  assert.equal(changes, [{ name, lent: first, current: second }, { name, lent: second, current: third }])
}))

test('takes it back also where the program has put a new file in the place of the old one', inWorld(async (
  { lend, changes, agentDir },
) => {
  const lent = await lend({ CODEX_AUTH_JSON: first })
  const path = join(agentDir, 'codex/auth.json')
  rmSync(path)
  writeFileSync(path, second)
  await lent.close()
  assert.is(changes[0]?.current, second)
  assert.not.ok(existsSync(path))
}))

test('sees a renewed login while the program works', inWorld(async ({ lend, changes }) => {
  const lent = await lend({ CODEX_AUTH_JSON: first }, 20)
  writeFileSync(join(lent.variables['CODEX_HOME'] ?? '', 'auth.json'), second)
  await until(() => changes.length === 1)
}))

const ignored: readonly (readonly [string, (path: string) => void])[] = [
  ['a file that was cut short', (path) => writeFileSync(path, second.slice(0, 20))],
  ['an empty file', (path) => writeFileSync(path, '')],
  ['no file', (path) => rmSync(path)],
  ['a file that is too long', (path) => writeFileSync(path, JSON.stringify('x'.repeat(300_000)))],
  ['a folder', (path) => { rmSync(path); mkdirSync(path) }],
  ['a link to what never ends', (path) => { rmSync(path); symlinkSync('/dev/zero', path) }],
]
for (const [name, change] of ignored) {
  test(`leaves the secret as it is when the program leaves ${name}`, inWorld(async ({ lend, changes, agentDir }) => {
    const lent = await lend({ CODEX_AUTH_JSON: first })
    change(join(agentDir, 'codex/auth.json'))
    await lent.close()
    assert.equal(changes, [])
  }))
}

test('says in the log when the secret was changed meanwhile, without a value', inWorld(async (world) => {
  const lent = await world.lend({ CODEX_AUTH_JSON: first })
  world.answer = async () => false
  writeFileSync(join(world.agentDir, 'codex/auth.json'), second)
  await lent.close()
  assert.equal(world.lines.length, 1)
  assert.match(world.lines[0] ?? '', /changed meanwhile.*CODEX_AUTH_JSON/)
  assert.not.match(world.lines.join(), /token/)
}))

test('tries again what could not be stored', inWorld(async (world) => {
  const lent = await world.lend({ CODEX_AUTH_JSON: first })
  world.answer = () => Promise.reject(new Error('the disk is full'))
  writeFileSync(join(world.agentDir, 'codex/auth.json'), second)
  await lent.readBack()
  assert.match(world.lines.join(), /could not be stored.*the disk is full/)
  world.answer = async () => true
  await lent.readBack()
  assert.equal(world.changes.map(({ lent: value }) => value), [first, first])
}))

test('leaves nothing when it is closed, also twice, but what the program keeps', inWorld(async (
  { lend, runtimeDir, agentDir },
) => {
  const lent = await lend()
  writeFileSync(join(agentDir, 'codex/history'), 'h')
  await Promise.all([lent.close(), lent.close()])
  assert.equal([readdirSync(runtimeDir), readdirSync(join(agentDir, 'codex'))], [[], ['history']])
}))

test('leaves nothing when a file cannot be lent', inWorld(async ({ lend, runtimeDir, agentDir }) => {
  writeFileSync(agentDir, 'in the way')
  let problem: unknown
  await lend().catch((error: unknown) => { problem = error })
  assert.instance(problem, Error)
  assert.equal(readdirSync(runtimeDir), [])
}))

test('replaces what a killed server has left in its place', inWorld(async ({ lend, agentDir }) => {
  mkdirSync(join(agentDir, 'codex'), { recursive: true })
  symlinkSync('/nowhere/auth.json', join(agentDir, 'codex/auth.json'))
  await lend({ CODEX_AUTH_JSON: first })
  assert.is(readFileSync(join(agentDir, 'codex/auth.json'), 'utf8'), first)
}))

test('removes nothing of a folder that a program has linked into the place of its own', inWorld(async (
  { lend, agentDir, runtimeDir, lines },
) => {
  const lent = await lend({ CODEX_AUTH_JSON: first })
  const own = join(runtimeDir, 'codex-of-the-user')
  mkdirSync(own)
  writeFileSync(join(own, 'auth.json'), third)
  rmSync(join(agentDir, 'codex'), { recursive: true })
  symlinkSync(own, join(agentDir, 'codex'))
  await lent.close()
  assert.is(readFileSync(join(own, 'auth.json'), 'utf8'), third)
  assert.match(lines.join(), /could not be removed.*is a link, expected a folder/)
  assert.is(await lend({ CODEX_AUTH_JSON: first }).then(() => 'lent', () => 'refused'), 'refused')
  assert.is(readFileSync(join(own, 'auth.json'), 'utf8'), third)
}))

test('says that a file is in the place of the folder of its own', inWorld(async ({ lend, agentDir, lines }) => {
  const lent = await lend({ CODEX_AUTH_JSON: first })
  rmSync(join(agentDir, 'codex'), { recursive: true })
  writeFileSync(join(agentDir, 'codex'), '')
  await lent.close()
  assert.match(lines.join(), /could not be removed.*is a file, expected a folder/)
}))

test('recovers what programs of a killed server have renewed, and nothing else', inWorld(async (world) => {
  await world.lend({ CODEX_AUTH_JSON: first, GOOGLE_APPLICATION_CREDENTIALS_JSON: first })
  writeFileSync(join(world.agentDir, 'codex/auth.json'), second)
  mkdirSync(join(world.runtimeDir, 'home-x'))
  mkdirSync(join(world.runtimeDir, 'lent-broken/EMPTY'), { recursive: true })
  const found: SecretChange[] = []
  const store = (isStored: boolean): Promise<ReadonlySet<string>> => recoverFiles(world.runtimeDir, async (change) => {
    found.push(change)
    return isStored
  }, world.log)
  assert.equal([...await store(true)], [])
  assert.equal(found, [{ name: 'CODEX_AUTH_JSON', lent: first, current: second }])
  const [lent = ''] = readdirSync(world.runtimeDir).filter((name) => name.startsWith('lent-') && name !== 'lent-broken')
  const refused = await recoverFiles(world.runtimeDir, () => Promise.reject(new Error('the key is another')), world.log)
  assert.equal([...refused], [lent])
  assert.match(world.lines.join(), /could not be stored and is kept.*CODEX_AUTH_JSON.*the key is another/)
  await store(false)
  assert.match(world.lines.join(), /changed meanwhile.*CODEX_AUTH_JSON/)
  await recoverFiles(join(world.runtimeDir, 'not-there'), async () => true, world.log)
}))

test.run()
