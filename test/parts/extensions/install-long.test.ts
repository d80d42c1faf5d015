/** Skills installed over REST from folders, archives and git: refused sources, and that nothing is left. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { makeRepository } from '../git/repositories.ts'
import { listAt, member, textAt, type RestResponse } from '../../support/rest.ts'
import { inServer, withServer, type TestServer } from '../../support/server.ts'
import { makeFolder } from '../../support/processes.ts'
import { suite } from '../../support/suite.ts'
import { tarOf, zipOf } from './archives.ts'

const test = suite('parts/extensions install')

function skill(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: About ${name}.\n${more}---\nText of ${name}.`
}

function write(folder: string, files: Readonly<Record<string, string | Buffer>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

const install = ({ rest }: TestServer, source: string, more: object = {}): Promise<RestResponse> => {
  return rest.post('/api/skills/install', { source, ...more })
}
const installed = async ({ rest }: TestServer): Promise<unknown[]> => {
  return listAt((await rest.get('/api/skills/installed')).json, 'skills').map((item) => member(item, 'name'))
}

/** Asserts that no installation is under way or left half-made. */
function assertNothingLeft({ dataDir }: TestServer): void {
  const work = join(dataDir, 'extensions', 'work')
  assert.equal(existsSync(work) ? readdirSync(work) : [], [])
}

test('installs a folder without its links, devices and git data', () => withServer(async (server) => {
  const folder = write(join(server.folder, 'src', 'my-skill'), {
    'SKILL.md': skill('my-skill', 'version: 1.2.0\n'), 'scripts/run.sh': 'echo', '.git/config': 'secret',
    'a/b/c.txt': 'deep',
  })
  chmodSync(join(folder, 'scripts/run.sh'), 0o755)
  symlinkSync('/etc/passwd', join(folder, 'passwd'))
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const { status, json } = await install(server, folder)
  assert.is(status, 200, JSON.stringify(json))
  const path = textAt(json, 'install_path')
  const { installed_at, install_path, ...rest } = Object(json)
  assert.equal(rest, {
    name: 'my-skill', version: '1.2.0', description: 'About my-skill.', enabled: true, source: folder,
    resolved_ref: null, repo_path: null,
  })
  assert.match(String(installed_at), /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.is(install_path, join(server.dataDir, 'extensions/skills/my-skill/content'))
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  assert.equal(names, ['SKILL.md', 'a', 'a/b', 'a/b/c.txt', 'scripts', 'scripts/run.sh'])
  const modeOf = (name: string): number => statSync(join(path, name)).mode & 0o777
  assert.equal([modeOf('scripts/run.sh'), modeOf('SKILL.md')], [0o700, 0o600])
  assert.equal((await server.rest.get('/api/skills/installed/my-skill')).json, json)
  assert.equal((await server.rest.get('/api/skills/installed')).json, { skills: [json] })
  assertNothingLeft(server)
}))

test('installs archives, with and without a folder around everything', () => withServer(async (server) => {
  const around = [{ name: 'x-1.0/SKILL.md', content: skill('in-folder') }, { name: 'x-1.0/a.txt', content: 'a' }]
  const files = {
    'a.zip': zipOf([{ name: 'SKILL.md', content: skill('zipped') }]),
    'b.tar': tarOf({ name: './SKILL.md', content: skill('tarred') }),
    'c.any': gzipSync(tarOf(...around)),
    'd.zip': zipOf([{ name: 'skills/deep/SKILL.md', content: skill('deep') }, { name: 'README.md', content: 'x' }]),
  }
  write(server.folder, files)
  for (const [file, name, more] of [
    ['a.zip', 'zipped', {}], ['b.tar', 'tarred', {}], ['c.any', 'in-folder', {}],
    ['d.zip', 'deep', { repo_path: 'skills/deep' }],
  ] as const) {
    const { status, json } = await install(server, join(server.folder, file), more)
    assert.equal([status, member(json, 'name')], [200, name], JSON.stringify(json))
  }
  const url = await install(server, `file://${join(server.folder, 'a.zip')}`, { force: true })
  assert.is(url.status, 200)
  assert.equal(await installed(server), ['deep', 'in-folder', 'tarred', 'zipped'])
  assertNothingLeft(server)
}))

test('an only folder is the folder around everything unless extensions have it at their top', () => {
  return withServer(async (server) => {
    write(server.folder, {
      'of-agents.zip': zipOf([{ name: 'agents/helper.md', content: skill('helper') }]),
      'of-hooks.zip': zipOf([{ name: 'hooks/hooks.json', content: '{"Stop": [{"hooks": [{"command": "true"}]}]}' }]),
      'of-name.zip': zipOf([{ name: 'hooks/.plugin/plugin.json', content: '{"name": "named-hooks"}' }]),
      'of-skill.zip': zipOf([{ name: 'commands/SKILL.md', content: skill('named-commands') }]),
    })
    for (const [file, kind, name] of [
      ['of-agents.zip', 'plugins', 'of-agents'], ['of-hooks.zip', 'plugins', 'of-hooks'],
      ['of-name.zip', 'plugins', 'named-hooks'], ['of-skill.zip', 'skills', 'named-commands'],
    ] as const) {
      const source = join(server.folder, file)
      const { status, json } = await server.rest.post(`/api/${kind}/install`, { source })
      assert.equal([status, member(json, 'name')], [200, name], JSON.stringify(json))
    }
  })
})

test('refuses hostile archives with 400, and leaves nothing of them', () => withServer(async (server) => {
  const good = { name: 'SKILL.md', content: skill('evil') }
  const archives = {
    'up.zip': zipOf([good, { name: '../../evil', content: 'x' }]),
    'link.tar': tarOf(good, { name: 'l', type: '2', target: '/etc' }),
    'hard.tar': tarOf(good, { name: 'l', type: '1', target: 'SKILL.md' }),
    'case.zip': zipOf([good, { name: 'skill.md', content: 'other' }]),
    'crc.zip': zipOf([good, { name: 'x', content: 'x', crc: 5 }]),
    'cut.tgz': gzipSync(tarOf(good)).subarray(0, -10),
    'bomb.zip': zipOf([good, { name: 'x', content: Buffer.alloc(30 * 1024 * 1024) }]),
    'none.zip': Buffer.from('no archive'),
  }
  write(server.folder, archives)
  for (const name of Object.keys(archives)) {
    const { status, json } = await install(server, join(server.folder, name))
    assert.is(status, 400, `${name}: ${JSON.stringify(json)}`)
    assert.match(textAt(json, 'detail'), 'Cannot unpack the archive', name)
    assertNothingLeft(server)
  }
  assert.not.ok(existsSync(join(server.dataDir, 'evil')) || existsSync(join(server.folder, 'evil')))
  assert.equal(await installed(server), [])
}))

test('refuses what is no skill and what cannot be read, with the status of each', () => withServer(async (server) => {
  const { folder, dataDir } = server
  write(folder, {
    'empty/a.txt': 'x', 'no-description/SKILL.md': 'Text.', 'bad-name/SKILL.md': skill('Bad Name'), 'f.txt': 'text',
  })
  symlinkSync(dataDir, join(folder, 'to-data'))
  for (const [source, status] of [
    [join(folder, 'empty'), 422], [join(folder, 'no-description'), 422], [join(folder, 'bad-name'), 422],
    [join(folder, 'f.txt'), 400], [join(folder, 'nothing'), 404], [dataDir, 403], [join(folder, 'to-data'), 403],
    ['/proc/self', 403], ['/dev/zero', 400], ['relative/path', 422], ['~/x', 422], ['', 422],
    ['http://example.org/a.git', 422],
    ['git@github.com:a/b.git', 422], ['ssh://host/a', 422], ['https://user:secret-in-address@example.org/a.git', 422],
    ['https://secret-in-address@example.org/a.git', 422], ['https://:secret-in-address@example.org/a.git', 422],
    ['https://example.org/a?token=secret-in-address', 422], ['ext::sh -c id', 422], ['github:a', 422],
    ['github:a/b/../c', 422],
    [`${folder}\0`, 422], ['file:///%ff', 422], ['https://example.org/%ff', 422],
    ['https://github.com/a/b/tree/%', 422],
  ] as const) {
    const { status: got, text } = await install(server, source)
    assert.is(got, status, `${JSON.stringify(source)}: ${text}`)
    assert.not.match(text, 'secret-in-address')
  }
  const twice = await install(server, join(folder, 'empty'), { repo_path: '../empty' })
  assert.equal([twice.status, member(twice.json, 'detail', 0, 'loc')], [422, ['body', 'repo_path']])
  assert.is((await install(server, join(folder, 'empty'), { ref: '--upload-pack=x' })).status, 422)
  const { json } = await install(server, 'x')
  assert.match(textAt(json, 'detail', 0, 'msg'), 'expected the absolute path of a folder or an archive')
  assert.not.match(server.log.join('\n'), 'secret-in-address')
  assertNothingLeft(server)
}))

test('a second one of a name is 409; with force it replaces the first', () => withServer(async (server) => {
  const one = write(join(server.folder, 'one'), { 'SKILL.md': skill('same'), 'old.txt': 'old' })
  const other = write(join(server.folder, 'other'), { 'SKILL.md': skill('same', 'version: 2\n'), 'new.txt': 'new' })
  const first = await install(server, one)
  const { status, json } = await install(server, other)
  assert.equal([status, json], [409, { detail: "Skill 'same' is already installed. Use force=true to overwrite." }])
  const changed = await server.rest.patch('/api/skills/installed/same', { enabled: false })
  assert.equal(changed.json, { name: 'same', enabled: false })
  const forced = await install(server, other, { force: true })
  assert.equal([forced.status, member(forced.json, 'enabled'), member(forced.json, 'version')], [200, false, '2'])
  assert.equal(readdirSync(textAt(first.json, 'install_path')).sort(), ['SKILL.md', 'new.txt'])
  assertNothingLeft(server)
}))

test('is enabled, disabled, refreshed and removed by its name', () => withServer(async (server) => {
  const folder = write(join(server.folder, 'src'), { 'SKILL.md': skill('mine') })
  await install(server, folder)
  const path = '/api/skills/installed/mine'
  assert.is((await server.rest.patch(path, { enabled: 'perhaps' })).status, 422)
  await server.rest.patch(path, { enabled: false })
  assert.is(member((await server.rest.get(path)).json, 'enabled'), false)
  write(folder, { 'SKILL.md': skill('mine', 'version: 3\n') })
  const refreshed = await server.rest.post(`${path}/refresh`)
  assert.equal([refreshed.status, member(refreshed.json, 'message')], [200, "Skill 'mine' updated"])
  assert.equal([member(refreshed.json, 'skill', 'version'), member(refreshed.json, 'skill', 'enabled')], ['3', false])
  write(folder, { 'SKILL.md': skill('yours') })
  assert.is((await server.rest.post(`${path}/refresh`)).status, 422)
  rmSync(folder, { recursive: true })
  assert.is((await server.rest.post(`${path}/refresh`)).status, 404)
  assert.is(member((await server.rest.get(path)).json, 'version'), '3')
  assert.equal((await server.rest.send('DELETE', path)).json, { message: "Skill 'mine' uninstalled" })
  for (const [method, to] of [['GET', path], ['DELETE', path], ['POST', `${path}/refresh`]] as const) {
    const { status, json } = await server.rest.send(method, to)
    assert.equal([status, json], [404, { detail: "Skill 'mine' is not installed" }])
  }
  assert.is((await server.rest.patch(path, { enabled: true })).status, 404)
  for (const name of ['Mine', '..%2Fx', 'a--b', '-a', 'x'.repeat(65), '.mine.previous', 'a.b']) {
    assert.is((await server.rest.get(`/api/skills/installed/${name}`)).status, 422, name)
  }
  assert.equal((await server.rest.get('/api/skills/marketplace')).json, { skills: [] })
  assertNothingLeft(server)
}))

test('fetches a branch, a tag, a commit and a folder of a git repository', () => withServer(async (server) => {
  const repository = makeRepository(join(server.folder, 'repository.git'))
  const mark = join(server.folder, 'mark')
  const program = repository.program('program', mark)
  repository.write('SKILL.md', skill('of-git'))
  repository.write('skills/inner/SKILL.md', skill('inner'))
  repository.write('.gitattributes', '* filter=evil\n')
  symlinkSync('SKILL.md', join(repository.root, 'link'))
  repository.git('config', 'filter.evil.smudge', program)
  repository.git('config', 'filter.evil.clean', 'cat')
  repository.git('config', 'uploadpack.packObjectsHook', program)
  repository.git('add', '-A')
  repository.git('commit', '-q', '-m', 'one')
  repository.git('tag', 'v1')
  const first = repository.git('rev-parse', 'HEAD').trim()
  for (const hook of ['post-checkout', 'post-merge', 'reference-transaction']) {
    write(repository.root, { [`.git/hooks/${hook}`]: readFileSync(program) })
    chmodSync(join(repository.root, '.git/hooks', hook), 0o755)
  }
  write(server.folder, { 'repository.git/SKILL.md': skill('of-git', 'version: 2\n') })
  execFileSync('git', ['-c', 'core.hooksPath=/dev/null', 'commit', '-q', '-a', '-m', 'two'], { cwd: repository.root })
  const second = repository.git('rev-parse', 'HEAD').trim()
  rmSync(mark, { force: true })
  const newest = await install(server, repository.root)
  const { status, json } = newest
  assert.equal([status, member(json, 'version'), member(json, 'resolved_ref')], [200, '2', second], newest.text)
  assert.equal(readdirSync(textAt(newest.json, 'install_path')).sort(), ['.gitattributes', 'SKILL.md', 'skills'])
  for (const ref of ['v1', first]) {
    const { status, json, text } = await install(server, repository.root, { ref, force: true })
    assert.equal([status, member(json, 'version'), member(json, 'resolved_ref')], [200, '', first], text)
  }
  const inner = await install(server, repository.root, { ref: 'main', repo_path: 'skills/inner' })
  assert.is(inner.status, 200)
  assert.equal([member(inner.json, 'name'), member(inner.json, 'repo_path')], ['inner', 'skills/inner'])
  const refreshed = await server.rest.post('/api/skills/installed/of-git/refresh')
  assert.is(member(refreshed.json, 'skill', 'resolved_ref'), first)
  for (const [more, reason] of [[{ ref: 'missing' }, /missing/], [{ repo_path: 'nowhere' }, /git/]] as const) {
    const { status, json } = await install(server, repository.root, { ...more, force: true })
    assert.is(status, 400)
    assert.match(textAt(json, 'detail'), reason)
  }
  assert.not.ok(existsSync(mark), 'a program of the repository ran')
  assertNothingLeft(server)
}))

test('the next start removes the work of a killed server, and no extension is lost', async () => {
  const { folder, remove } = makeFolder()
  try {
    await inServer(folder, async (server) => {
      await install(server, write(join(folder, 'a'), { 'SKILL.md': skill('kept') }))
      await install(server, write(join(folder, 'b'), { 'SKILL.md': skill('replaced') }))
    })
    const extensions = join(folder, 'data', 'extensions')
    assert.ok(existsSync(extensions), readdirSync(folder).join())
    write(join(extensions, 'work', '01234567-89ab-4cde-8f01-23456789abcd'), { 'half.txt': 'half' })
    write(join(extensions, 'work'), { 'not-ours.txt': 'stays' })
    // One replacement was cut between its two renames, one after them.
    renameSync(join(extensions, 'skills/replaced'), join(extensions, 'skills/.replaced.previous'))
    write(join(extensions, 'skills/.kept.previous'), { 'record.json': '{}' })
    await inServer(folder, async (server) => {
      assert.equal(readdirSync(join(extensions, 'work')), ['not-ours.txt'])
      assert.equal(readdirSync(join(extensions, 'skills')).sort(), ['kept', 'replaced'])
      assert.equal(await installed(server), ['kept', 'replaced'])
    })
  } finally {
    remove()
  }
})

test('a folder with a hard link is copied, and one with too many files is refused', () => withServer(async (server) => {
  const folder = write(join(server.folder, 'src'), { 'SKILL.md': skill('linked'), 'a.txt': 'x' })
  linkSync(join(folder, 'a.txt'), join(folder, 'b.txt'))
  assert.is((await install(server, folder)).status, 200)
  for (let at = 0; at < 10_001; at++) writeFileSync(join(folder, String(at)), '')
  const { status, json } = await install(server, folder, { force: true })
  assert.equal([status, /10000 entries/.test(textAt(json, 'detail'))], [400, true])
  assertNothingLeft(server)
}))

test.run()
