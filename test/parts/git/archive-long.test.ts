/**
 * The work of a folder as a patch and as an archive: the results of real git and tar, and the programs that it cannot
 * run.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isExcluded } from '../../../src/parts/git/excludes.ts'
import { writeTar, type TarEntry } from '../../../src/parts/git/tar.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { makeRepository, type TestRepository } from './repositories.ts'

const test = suite('parts/git archive')

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
}

type Query = Readonly<Record<string, string>> | [string, string][]

async function ask({ url, key }: TestServer, query: Query): Promise<Answer> {
  const address = `${url}/api/file/archive?${String(new URLSearchParams(query))}`
  const answer = await fetch(address, { headers: { 'X-Session-API-Key': key } })
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
}

function work(server: TestServer): TestRepository {
  const repository = makeRepository(join(server.folder, 'work é'))
  for (const name of ['kept.txt', 'changed.txt', 'removed.txt', 'sub/inner.txt']) repository.write(name, `${name}\n`)
  repository.write('.gitignore', 'ignored\n')
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'base')
  repository.git('remote', 'add', 'origin', 'https://user:token-in-remote@example.org/a/b.git')
  repository.write('changed.txt', 'changed\n')
  rmSync(join(repository.root, 'removed.txt'))
  repository.write('new/binary.bin', '\0\x01binary\0')
  repository.write('ignored', 'x')
  repository.write('dist/made.js', 'made')
  repository.write('x.pyc', 'made')
  repository.write('sub/new.txt', 'new')
  return repository
}

/** Everything of a repository that making a patch could change. */
function stateOf(root: string): string {
  return [['status', '--porcelain'], ['count-objects', '-v'], ['ls-files', '-s'], ['show-ref']].map((args) => {
    return execFileSync('git', args, { cwd: root }).toString()
  }).join('')
}

test('a patch gives the work, and the repository stays as it is', () => withServer(async (server) => {
  const repository = work(server)
  const before = stateOf(repository.root)
  const { status, headers, bytes } = await ask(server, { path: repository.root, base_ref: 'main' })
  assert.is(status, 200, bytes.toString())
  assert.is(headers.get('content-type'), 'text/x-patch')
  const head = repository.git('rev-parse', 'HEAD').trim()
  assert.equal(['repo-remote', 'branch', 'head-commit', 'repo-root', 'base-commit', 'base-ref'].map((name) => {
    return decodeURIComponent(headers.get(`x-archive-${name}`) ?? '')
  }), ['https://example.org/a/b.git', 'main', head, repository.root, head, 'main'])
  const clone = join(server.folder, 'clone')
  repository.git('clone', '--quiet', repository.root, clone)
  writeFileSync(join(server.folder, 'p.patch'), bytes)
  execFileSync('git', ['apply', join(server.folder, 'p.patch')], { cwd: clone })
  assert.is(readFileSync(join(clone, 'changed.txt'), 'utf8'), 'changed\n')
  assert.is(readFileSync(join(clone, 'new/binary.bin'), 'utf8'), '\0\x01binary\0')
  assert.equal(readdirSync(clone).sort(), ['.git', '.gitignore', 'changed.txt', 'kept.txt', 'new', 'sub'])
  assert.is(stateOf(repository.root), before)
  assert.equal(readdirSync(join(server.dataDir, 'runtime')), [])
  const all = await ask(server, {
    path: repository.root, use_default_excludes: 'false', exclude: 'sub/new.txt',
  })
  assert.match(all.bytes.toString(), 'dist/made.js')
  assert.not.match(all.bytes.toString(), 'sub/new.txt')
  const inner = await ask(server, { path: join(repository.root, 'sub'), base_ref: 'HEAD' })
  assert.match(inner.bytes.toString(), 'sub/new.txt')
  assert.not.match(inner.bytes.toString(), 'changed.txt')
}))

test('a patch is made in a worktree too', () => withServer(async (server) => {
  const { root, git } = work(server)
  const tree = join(server.folder, 'tree')
  git('worktree', 'add', '--quiet', tree, '-b', 'other')
  writeFileSync(join(tree, 'only-here.txt'), 'text')
  const { status, headers, bytes } = await ask(server, { path: tree, base_ref: 'HEAD' })
  assert.equal([status, headers.get('x-archive-branch')], [200, 'other'], bytes.toString())
  assert.match(bytes.toString(), 'only-here.txt')
  assert.not.match(bytes.toString(), 'changed.txt')
  assert.is(stateOf(root).includes('only-here'), false)
}))

test('an archive has the regular files and folders, and says what it has', () => withServer(async (server) => {
  const { root } = work(server)
  symlinkSync('/etc/passwd', join(root, 'link'))
  chmodSync(join(root, 'kept.txt'), 0o755)
  const long = `${'long-folder-name/'.repeat(8)}file.txt`
  mkdirSync(join(root, 'empty'))
  mkdirSync(join(root, long, '..'), { recursive: true })
  writeFileSync(join(root, long), Buffer.alloc(300_000, 'x'))
  const { status, headers, bytes } = await ask(server, [
    ['path', root], ['format', 'tar.gz'], ['exclude', 'new/'], ['exclude', 'sub/inner.txt'],
  ])
  assert.equal([status, headers.get('content-type')], [200, 'application/gzip'])
  const out = join(server.folder, 'out')
  mkdirSync(out)
  execFileSync('tar', ['-xz'], { cwd: out, input: bytes })
  const names = readdirSync(join(out, 'work é'), { recursive: true, encoding: 'utf8' })
  assert.equal(names.filter((name) => !name.startsWith('long')).sort(), [
    '.gitignore', 'archive_manifest.json', 'changed.txt', 'empty', 'ignored', 'kept.txt', 'sub', 'sub/new.txt',
  ])
  assert.is(readFileSync(join(out, 'work é', long)).length, 300_000)
  const manifest: unknown = JSON.parse(readFileSync(join(out, 'work é/archive_manifest.json'), 'utf8'))
  assert.equal([Object(manifest).file_count, Object(manifest).source], [6, 'work é'])
  const head = await server.rest.send('HEAD', `/api/file/archive?format=tar.gz&path=${encodeURIComponent(root)}`)
  assert.equal([head.status, head.text], [200, ''])
}))

test('an archive without the usual excludes has the content of node_modules', () => withServer(async (server) => {
  const { root } = work(server)
  mkdirSync(join(root, 'node_modules/pack'), { recursive: true })
  writeFileSync(join(root, 'node_modules/pack/index.js'), 'x')
  const names = async (query: object): Promise<string> => {
    const { status, bytes } = await ask(server, { path: root, format: 'tar.gz', ...query })
    assert.is(status, 200, bytes.toString())
    return execFileSync('tar', ['-tz', '--quoting-style=literal'], { input: bytes }).toString()
  }
  const all = await names({ use_default_excludes: 'false' })
  assert.match(all, 'node_modules/pack/index.js')
  assert.not.match(all, '.git/')
  assert.not.match(await names({}), 'node_modules')
}))

test('an archive that would lack files is refused, and sent without the folder that cannot be walked', () => {
  return withServer(async (server) => {
    const { root } = work(server)
    // Deeper than a walk of the workspace goes.
    const deep = `deep/${'d/'.repeat(102)}`
    mkdirSync(join(root, deep), { recursive: true })
    writeFileSync(join(root, deep, 'lost.txt'), 'lost')
    const refused = await ask(server, { path: root, format: 'tar.gz' })
    assert.is(refused.status, 400)
    assert.match(refused.bytes.toString(), 'The archive would lack files')
    const sent = await ask(server, { path: root, format: 'tar.gz', exclude: 'deep/' })
    assert.is(sent.status, 200, sent.bytes.toString())
    assert.match(execFileSync('tar', ['-tz'], { input: sent.bytes }).toString(), 'kept.txt')
  })
})

/** Asks for an archive, changes the folder when its first bytes have come, and returns the whole answer. */
async function askAndChange({ url, key }: TestServer, root: string, change: () => void): Promise<Buffer> {
  // Random bytes do not get smaller, so the server waits for the reader before it comes to the names after this one.
  writeFileSync(join(root, 'a-large'), randomBytes(24 << 20))
  const address = `${url}/api/file/archive?${String(new URLSearchParams({ path: root, format: 'tar.gz' }))}`
  const { body } = await fetch(address, { headers: { 'X-Session-API-Key': key } })
  const pieces: Buffer[] = []
  for await (const piece of body ?? []) {
    if (pieces.length === 0) change()
    pieces.push(Buffer.from(piece))
  }
  return Buffer.concat(pieces)
}

test('a file that is removed while an archive is sent is left out of it', () => withServer(async (server) => {
  const { root } = work(server)
  writeFileSync(join(root, 'z-removed'), 'text')
  const bytes = await askAndChange(server, root, () => rmSync(join(root, 'z-removed')))
  const names = execFileSync('tar', ['-tz', '--quoting-style=literal'], { input: bytes }).toString().split('\n')
  assert.equal(names.filter((name) => /a-large|z-/.test(name)), ['work é/a-large'])
}))

test('an archive breaks off at a file that cannot be read any more', () => withServer(async (server) => {
  const { root } = work(server)
  writeFileSync(join(root, 'z-replaced'), 'text')
  const change = (): void => {
    rmSync(join(root, 'z-replaced'))
    mkdirSync(join(root, 'z-replaced'))
  }
  const failure = await askAndChange(server, root, change).then(() => undefined, (thrown: unknown) => String(thrown))
  assert.is(failure, 'TypeError: terminated')
}))

test('refuses folders without a repository and paths that may not be used', () => withServer(async (server) => {
  const { root } = work(server)
  for (const [query, status] of [
    [{ path: server.folder }, 400], [{ path: root, base_ref: 'nowhere' }, 400],
    [{ path: root, base_ref: '--output=x' }, 400], [{ path: join(root, 'none') }, 404],
    [{ path: join(root, 'kept.txt') }, 400], [{ path: 'relative' }, 400], [{}, 422],
    [{ path: server.dataDir }, 403], [{ path: '/proc/self' }, 403], [{ path: root, format: 'zip' }, 422],
    [{ path: root, exclude: 'a\nb' }, 422],
  ] as const) {
    const answer = await ask(server, { ...query })
    assert.is(answer.status, status, `${JSON.stringify(query)}: ${answer.bytes}`)
  }
}))

test('runs no filter or monitor of the repository or of a submodule', () => withServer(async (server) => {
  const inner = makeRepository(join(server.folder, 'inner'))
  inner.write('a', 'a')
  inner.git('add', '-A')
  inner.git('commit', '-q', '-m', 'a')
  const outer = makeRepository(join(server.folder, 'outer'))
  outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'module')
  outer.write('.gitattributes', '* filter=evil diff=evil\n')
  outer.git('add', '-A')
  outer.git('commit', '-q', '-m', 'outer')
  const mark = join(server.folder, 'mark')
  const program = outer.program('program', mark)
  for (const [key, value] of [
    ['filter.evil.clean', program], ['filter.evil.smudge', program], ['diff.evil.textconv', program],
    ['diff.evil.command', program], ['core.fsmonitor', program],
  ] as const) outer.git('config', key, value)
  outer.git('--git-dir', '.git/modules/module', 'config', 'filter.inner.clean', program)
  writeFileSync(join(outer.root, '.git/modules/module/info/attributes'), '* filter=inner\n')
  writeFileSync(join(outer.root, 'module/a'), 'b')
  writeFileSync(join(outer.root, 'b'), 'new')
  for (const query of [{}, { base_ref: 'HEAD' }, { format: 'tar.gz' }]) {
    const { status, bytes } = await ask(server, { path: outer.root, ...query })
    assert.is(status, 200, bytes.toString())
  }
  assert.not.ok(existsSync(mark))
}))

test('patterns leave out names at any depth, paths from the top, and folders only with a slash', () => {
  for (const [path, isFolder, pattern, expected] of [
    ['a/b/dist', true, 'dist/', true], ['a/dist', false, 'dist/', false], ['a/x.pyc', false, '*.pyc', true],
    ['secrets/prod', true, 'secrets/prod', true], ['a/secrets/prod', true, 'secrets/prod', false],
    ['a/c', true, '*/c', true], ['a/b/c', true, '*/c', false], ['abc', false, 'a?c', true],
    ['ab', false, 'a?c', false], ['a.b', false, 'a[.]b', false],
    ['x', false, '', false], ['x', false, '/', false], ['aXbXc', false, 'a*b*c', true], ['aXbX', false, 'a*b*c', false],
    ['a'.repeat(5000), false, `${'a*'.repeat(120)}b`, false],
  ] as const) assert.is(isExcluded(path, isFolder, [pattern]), expected, `${path.slice(0, 20)} ${pattern.slice(0, 20)}`)
})

test('a file that changes its size while it is sent keeps the size of its header', async () => {
  async function* entries(): AsyncGenerator<TarEntry, void> {
    const content = async function* (): AsyncGenerator<Buffer, void> { yield Buffer.from('abcdef') }
    yield { name: 'short', size: 3, isExecutable: false, content: content() }
    yield { name: 'long', size: 1000, isExecutable: true, content: content() }
  }
  const pieces: Buffer[] = []
  for await (const piece of writeTar(entries())) pieces.push(piece)
  const listed = execFileSync('tar', ['-tv'], { input: Buffer.concat(pieces) }).toString()
  assert.match(listed, /-rw-r--r--.* 3 .*short\n-rwxr-xr-x.* 1000 .*long\n/)
})

test.run()
