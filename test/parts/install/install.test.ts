/** Installing with a stand-in for npm: the files afterwards, and that a failure changes nothing. */
import {
  chmodSync, cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { findDifference } from '../../../src/parts/install/differences.ts'
import { digestFolder } from '../../../src/parts/install/digests.ts'
import { changeAgents, removeUnused } from '../../../src/parts/install/folder.ts'
import { removeAgent, verifyAgent, type InstallOptions } from '../../../src/parts/install/install.ts'
import { runNpmInstall } from '../../../src/parts/install/npm.ts'
import {
  commandOf, listInstalled, readInstallation, sizeOf, writeInstallation,
} from '../../../src/parts/install/record.ts'
import { isAlive, until } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { codex, inWorld, never } from './world.ts'

const test = suite('agents install')
const inside = 'node_modules/@agentclientprotocol/codex-acp'
const check = { signal: never, clock: () => 5000 }

test('installs an exact version and records every file', inWorld(async ({ agentsDir, steps, install }) => {
  const done = await install()
  assert.equal(await readInstallation(agentsDir, 'codex'), done)
  assert.equal(await listInstalled(agentsDir), ['codex'])
  assert.equal([done.version, done.entry, done.installedAt, done.nodeVersion], [
    '2.6.0', `${inside}/agent.js`, '1970-01-01T00:00:00.000Z', process.version,
  ])
  assert.equal(commandOf(agentsDir, done), [process.execPath, join(agentsDir, done.folder, inside, 'agent.js')])
  assert.equal(done.files.map(({ path }) => path), [
    `${inside}/agent.js`, `${inside}/bin/tool`, `${inside}/called.json`, `${inside}/lib/data.js`,
    `${inside}/lib/native.node`,
    `${inside}/package.json`, 'package.json',
  ])
  const data = done.files.find(({ path }) => path.endsWith('data.js'))
  // As sha256sum prints it.
  assert.equal(data, {
    path: `${inside}/lib/data.js`, size: 27, sha256: '2e1869b7bacaad36927c951a4611621a6ca291c5bf2d003b5d03bf4fe6b6f28a',
  })
  assert.ok(sizeOf(done) > 27)
  assert.equal(steps, [
    `installing ${codex.packageName}@2.6.0 with npm, its dependencies are not locked for this version and platform`,
    'taking the digests of its files',
  ])
}))

test('a locked version is installed as the lock says, another version or platform without it', inWorld(async (
  { agentsDir, steps, install },
) => {
  const packages = { '': {}, [inside]: { version: '2.6.0', integrity: 'sha512-AAAA' } }
  const lock = { packageName: codex.packageName, version: '2.6.0', platforms: ['linux-x64'], packages }
  const locks = new Map([['codex', async () => ({ lock })]])
  const calledIn = async (changes: Partial<InstallOptions>): Promise<unknown> => {
    const { folder: done } = await install('script', { locks, ...changes })
    return JSON.parse(readFileSync(join(agentsDir, done, inside, 'called.json'), 'utf8')).args[0]
  }
  assert.is(await calledIn({}), 'ci')
  assert.is(steps[0], `installing ${codex.packageName}@2.6.0 with npm, all packages locked`)
  assert.is(await calledIn({ version: '2.6.1' }), 'install')
  assert.is(await calledIn({ platform: 'darwin-arm64' }), 'install')
  assert.is(await calledIn({ provider: { ...codex, packageName: 'other' } }).catch(() => 'other'), 'other')
  const locked = await install('script', { locks })
  const written: unknown = JSON.parse(readFileSync(join(agentsDir, locked.folder, 'package-lock.json'), 'utf8'))
  assert.equal(written, { lockfileVersion: 3, requires: true, packages })
}))

test(
  'a package that needs a script of its own is refused, unless the table knows where its program is',
  inWorld(async ({ install }) => {
    const refused = install('own-script')
    await rejects(
      refused,
      'upstream_failed',
      /its package runs a script at installation \("postinstall"\), and no scripts are run here/,
    )
    const known = { ...codex, programs: { 'linux-x64': '@agentclientprotocol/codex-acp/bin/tool' } }
    const done = await install('own-script', { provider: known })
    assert.equal([done.entry, done.runsOnNode], [`${inside}/bin/tool`, false])
    const elsewhere = install('own-script', { provider: known, platform: 'linux-riscv64' })
    await rejects(elsewhere, 'upstream_failed', /runs a script at installation/)
    const missing = install('own-script', { provider: { ...codex, programs: { 'linux-x64': 'not/there' } } })
    await rejects(missing, 'upstream_failed', /the package has no program for linux-x64, expected "not\/there"/)
  }),
)

test('says how a program that is no npm package is installed', inWorld(async ({ install }) => {
  const provider = { ...codex, packageName: '', installCommand: 'uv tool install it==1.0.0' }
  await rejects(
    install('script', { provider }),
    'bad_request',
    /it is no npm package; install it with "uv tool install it==1\.0\.0"/,
  )
}))

test('counts the entry, what has an execute bit and native code as executables', inWorld(async ({ install }) => {
  const { files } = await install()
  const executables = files.filter(({ stamp }) => stamp !== undefined).map(({ path }) => path)
  assert.equal(executables, [`${inside}/agent.js`, `${inside}/bin/tool`, `${inside}/lib/native.node`])
}))

test(
  'lets npm run no scripts, make no links, and see none of the server\'s keys',
  inWorld(async ({ agentsDir, install }) => {
    const { folder } = await install()
    const called = JSON.parse(readFileSync(join(agentsDir, folder, inside, 'called.json'), 'utf8'))
    for (const flag of ['install', '--ignore-scripts', '--no-bin-links', '--omit=dev']) {
      assert.ok(called.args.includes(flag), flag)
    }
    assert.equal([called.env.FAKE_NPM, called.env.SESSION_API_KEY, called.args[1]], [
      'script', undefined, `${codex.packageName}@2.6.0`,
    ])
  }),
)

test('reads the record of an agent with as many files as real ones have', inWorld(async ({ agentsDir, install }) => {
  const done = await install()
  const [file] = done.files
  assert.ok(file !== undefined)
  const many = {
    ...done,
    files: [...done.files, ...Array.from({ length: 20_000 }, (_, index) => ({ ...file, path: `more/${index}` }))],
  }
  await writeInstallation(agentsDir, many)
  assert.is((await readInstallation(agentsDir, 'codex'))?.files.length, many.files.length)
}))

test(
  'keeps the record and the files for their owner alone, one line for each file',
  inWorld(async ({ agentsDir, install }) => {
    const { folder, files } = await install()
    const record = join(agentsDir, 'codex.json')
    assert.equal([record, agentsDir, join(agentsDir, folder)].map((path) => statSync(path).mode & 0o777), [
      0o600, 0o700, 0o700,
    ])
    assert.is(
      readFileSync(record, 'utf8').split('\n').filter((line) => line.startsWith('{"path"')).length, files.length,
    )
  }),
)

test('starts a program that is none for Node by itself, and tells a script by its first line', inWorld(async (
  { agentsDir, install },
) => {
  const native = await install('native')
  assert.equal(commandOf(agentsDir, native), [join(agentsDir, native.folder, inside, 'bin/agent')])
  assert.is((await install('no-extension')).runsOnNode, true)
  assert.is((await install('one-program')).entry, `${inside}/agent.js`)
}))

const failures: [name: string, mode: string, code: string, words: RegExp][] = [
  ['npm fails', 'fails', 'upstream_failed', /npm ended with 1: code E404; 404 Not Found$/],
  ['npm brings another version', 'other-version', 'upstream_failed',
    /npm installed version "9\.9\.9", expected "2\.6\.0"/],
  ['the package has no such program', 'no-program', 'upstream_failed', /the package has no program "codex-acp"/],
  ['the package lacks the file of its program', 'no-file', 'upstream_failed', /the package has no program "codex-acp"/],
  ['the program lies outside of the package', 'outside', 'upstream_failed', /the package has no program "codex-acp"/],
  ['there is a link among the files', 'link', 'storage_failed',
    /"node_modules\/.*\/link": expected a file or a folder/],
]
for (const [name, mode, code, words] of failures) {
  test(`installs nothing and leaves what was there when ${name}`, inWorld(async ({ agentsDir, install }) => {
    const before = await install()
    const names = readdirSync(agentsDir)
    await rejects(install(mode, { version: '2.6.0' }), code, words)
    assert.equal(readdirSync(agentsDir), names)
    assert.equal(await readInstallation(agentsDir, 'codex'), before)
  }))
}

test(
  'refuses a version that is not exact, a provider without a package, and a machine without npm',
  inWorld(async ({ agentsDir, install }) => {
    for (const version of ['latest', '^1.0.0', '1.2', '', '--force']) {
      await rejects(install('script', { version }), 'bad_request', /expected an exact one/)
    }
    await rejects(install('script', { provider: { ...codex, packageName: '' } }), 'bad_request', /names no package/)
    assert.is(existsSync(agentsDir), false)
    await rejects(
      install('script', { environment: { PATH: '/nowhere' } }), 'agent_failed', /no such program in the PATH/,
    )
  }),
)

test('ends npm when it is interrupted, and leaves nothing', inWorld(async ({ folder, agentsDir, install }) => {
  const ended = new AbortController()
  const mark = join(folder, 'pid')
  const installing = install(`hangs:${mark}`, { signal: ended.signal })
  await until(() => existsSync(mark))
  ended.abort(new Error('Interrupted'))
  await assertThrows(installing, /Interrupted/)
  assert.equal(readdirSync(agentsDir), ['lock'])
  assert.not(isAlive(Number(readFileSync(mark, 'utf8'))))
}))

test('gives up when npm takes too long', inWorld(async ({ folder }) => {
  const environment = { PATH: `${join(folder, 'fake-npm')}:/usr/bin:/bin`, FAKE_NPM: `hangs:${join(folder, 'pid')}` }
  const options = {
    folder, packageName: 'p', version: '1.0.0', environment, signal: never, instance: 'install-x', id: 'x',
    timeoutMs: 50,
  }
  await rejects(runNpmInstall(options), 'upstream_timeout', /npm did not end within 50 ms/)
}))

test('replaces an earlier version in one step and keeps its files until nothing can run from them', inWorld(async (
  { agentsDir, install },
) => {
  const first = await install('script', { version: '2.5.0' })
  const second = await install()
  assert.ok(existsSync(join(agentsDir, first.folder)))
  await removeUnused(agentsDir)
  assert.equal([existsSync(join(agentsDir, first.folder)), existsSync(join(agentsDir, second.folder))], [false, true])
}))

test('refuses two changes at once', inWorld(async ({ agentsDir, install }) => {
  await changeAgents(agentsDir, Date.now, () => {
    return rejects(
      install(), 'owned_by_another', /another command or a starting server is changing them, so try again later/,
    )
  })
  await install()
}))

test('removes what a killed installation left', inWorld(async ({ agentsDir, install }) => {
  const { folder } = await install()
  const left = join(agentsDir, 'new-01234567-89ab-cdef-0123-456789abcdef')
  renameSync(join(agentsDir, folder), left)
  await install()
  assert.is(existsSync(left), false)
}))

test('names every file that was changed, removed or added', inWorld(async ({ agentsDir, install }) => {
  const { folder } = await install()
  assert.equal(await verifyAgent(agentsDir, 'codex', check), [])
  assert.is(await verifyAgent(agentsDir, 'gemini-cli', check), undefined)
  const at = (path: string): string => join(agentsDir, folder, inside, path)
  writeFileSync(at('lib/data.js'), 'export const data = "date"\n')
  rmSync(at('bin/tool'))
  writeFileSync(at('lib/more.js'), '')
  assert.equal(await verifyAgent(agentsDir, 'codex', check), [
    { path: `${inside}/bin/tool`, problem: 'missing' },
    { path: `${inside}/lib/data.js`, problem: 'changed' },
    { path: `${inside}/lib/more.js`, problem: 'extra' },
  ])
}))

test('takes copied files for the installed ones once every digest is right', inWorld(async (
  { folder, agentsDir, install },
) => {
  const done = await install()
  cpSync(join(agentsDir, done.folder), join(folder, 'copy'), { recursive: true })
  rmSync(join(agentsDir, done.folder), { recursive: true })
  renameSync(join(folder, 'copy'), join(agentsDir, done.folder))
  assert.is((await findDifference(agentsDir, done))?.problem, 'changed')
  assert.equal(await verifyAgent(agentsDir, 'codex', check), [])
  const now = await readInstallation(agentsDir, 'codex')
  assert.equal([now?.installedAt, now?.verifiedAt], [done.installedAt, '1970-01-01T00:00:05.000Z'])
  assert.is(now === undefined ? 'none' : await findDifference(agentsDir, now), undefined)
}))

test('removes an agent, also one with a damaged record', inWorld(async ({ agentsDir, install }) => {
  const { folder } = await install()
  writeFileSync(join(agentsDir, 'codex.json'), '{')
  assert.is(await removeAgent(agentsDir, 'codex', Date.now), true)
  assert.is(await removeAgent(agentsDir, 'codex', Date.now), false)
  assert.is(await readInstallation(agentsDir, 'codex'), undefined)
  await removeUnused(agentsDir)
  assert.is(existsSync(join(agentsDir, folder)), false)
}))

type Json = Record<string, unknown>
const damages: [name: string, damage: (record: Json, files: Json[]) => void][] = [
  ['of another form', (record) => void (record['format'] = 2)],
  ['of another agent', (record) => void (record['name'] = 'gemini-cli')],
  ['without a version', (record) => void delete record['version']],
  ['whose folder is elsewhere', (record) => void (record['folder'] = '../@elsewhere')],
  ['that does not know how to start it', (record) => void delete record['runsOnNode']],
  ['whose entry is none of its files', (record) => void (record['entry'] = '../../agent.js')],
  ['without files', (record) => void (record['files'] = 'none')],
  ['with a file outside of the folder', (_, [file = {}]) => void (file['path'] = 'a/../../x')],
  ['with an absolute path', (_, [file = {}]) => void (file['path'] = '/etc/passwd')],
  ['with a digest that is none', (_, [file = {}]) => void (file['sha256'] = 'x')],
  ['with a size that is none', (_, [file = {}]) => void (file['size'] = 'x')],
  ['with a broken stamp', (_, [file = {}]) => void (file['stamp'] = { inode: 1 })],
  ['with a file that is none', (record) => void (record['files'] = [null])],
]
for (const [name, damage] of damages) {
  test(`refuses a record ${name}`, inWorld(async ({ agentsDir, install }) => {
    await install()
    const path = join(agentsDir, 'codex.json')
    const record = JSON.parse(readFileSync(path, 'utf8'))
    damage(record, record.files)
    writeFileSync(path, JSON.stringify(record))
    await rejects(
      readInstallation(agentsDir, 'codex'), 'storage_failed', /Cannot use the record of the installed agent "codex"/,
    )
  }))
}

test(
  'knows no agent of a name that cannot be one, and none where there is no folder',
  inWorld(async ({ agentsDir, folder }) => {
    assert.is(await readInstallation(agentsDir, '../codex'), undefined)
    assert.equal(await listInstalled(agentsDir), [])
    writeFileSync(join(folder, 'file'), '')
    await rejects(listInstalled(join(folder, 'file')), 'storage_failed', /ENOTDIR/)
    await rejects(
      changeAgents(join(folder, 'file'), Date.now, async () => undefined), 'storage_failed', /Cannot make the folder/,
    )
  }),
)

test('takes no digests of more files than the limit, and ends at a signal', inWorld(async ({ agentsDir, install }) => {
  const { folder, entry } = await install()
  chmodSync(join(agentsDir, folder), 0o700)
  await rejects(
    digestFolder(join(agentsDir, folder), { signal: never, entry, fileLimit: 6 }),
    'storage_failed',
    /more than 6 files/,
  )
  await assertThrows(
    digestFolder(join(agentsDir, folder), { signal: AbortSignal.abort(new Error('Enough')), entry }), /Enough/,
  )
}))

async function rejects(promise: Promise<unknown>, code: string, words: RegExp): Promise<void> {
  const error: unknown = await promise.then(() => undefined, (thrown: unknown) => thrown)
  assert.ok(error instanceof Error && 'code' in error, `Expected a refusal, got ${String(error)}`)
  assert.is(error.code, code, error.message)
  assert.match(error.message, words)
}

async function assertThrows(promise: Promise<unknown>, words: RegExp): Promise<void> {
  assert.match(String(await promise.then(() => 'nothing was thrown', (thrown: unknown) => thrown)), words)
}

test.run()
