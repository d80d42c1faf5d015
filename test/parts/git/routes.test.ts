/** Changes, both sides of a file and commits, of real repositories. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { listAt, member } from '../../support/rest.ts'
import { withServer, type TestServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { initRepository } from '../../../src/workspace/git.ts'
import { makeRepository, type TestRepository } from './repositories.ts'

const test = suite('parts/git routes')

interface World extends Pick<TestServer, 'folder'> {
  readonly repository: TestRepository
  ask(route: string, query: Readonly<Record<string, string>>): Promise<{ status: number; json: unknown }>
}

function withRepository(body: (world: World) => Promise<void>): () => Promise<void> {
  return () => withServer(async ({ rest, folder }) => {
    const ask: World['ask'] = (route, query) => rest.get(`/api/git/${route}?${String(new URLSearchParams(query))}`)
    await body({ folder, repository: makeRepository(join(folder, 'repository')), ask })
  })
}

test('lists changes since a revision, with new files and without ignored ones',
  withRepository(async ({ repository, ask }) => {
  for (const name of ['kept', 'tracked.txt', 'removed', 'moved', 'd/é "x"\n']) repository.write(name, `${name}\n`)
  repository.write('.gitignore', 'ignored\n')
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'first')
  repository.write('tracked.txt', 'new\n')
  repository.write('untracked', '')
  repository.write('ignored', '')
  repository.write('d/é "x"\n', 'new')
  repository.git('rm', '--quiet', 'removed')
  repository.git('mv', 'moved', 'd/moved')
  repository.git('rm', '--quiet', '--cached', 'kept')
  const since = await ask('changes', { path: repository.root, ref: 'HEAD' })
  assert.equal([since.status, since.json], [200, [
    { status: 'ADDED', path: 'd/moved' }, { status: 'UPDATED', path: 'd/é "x"\n' }, { status: 'UPDATED', path: 'kept' },
    { status: 'DELETED', path: 'moved' }, { status: 'DELETED', path: 'removed' }, { status: 'UPDATED',
      path: 'tracked.txt' },
    { status: 'ADDED', path: 'untracked' },
  ]])
  // Nothing at origin, and no other branch: since the last commit.
  assert.equal((await ask('changes', { path: repository.root })).json, since.json)
  const inFolder = await ask('changes', { path: join(repository.root, 'd'), ref: 'HEAD' })
  assert.equal(inFolder.json, [{ status: 'ADDED', path: 'moved' }, { status: 'UPDATED', path: 'é "x"\n' }])
}))

test('compares with the branch at origin, else with where it left the default branch',
  withRepository(async ({ folder, repository, ask }) => {
  repository.write('a', 'one')
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'first')
  const clone = makeRepository(join(folder, 'clone'))
  clone.git('remote', 'add', 'origin', repository.root)
  clone.git('fetch', '--quiet', 'origin')
  clone.git('reset', '--quiet', '--hard', 'origin/main')
  clone.write('b', 'two')
  assert.equal((await ask('changes', { path: clone.root })).json, [{ status: 'ADDED', path: 'b' }])
  clone.git('checkout', '--quiet', '-b', 'mine')
  clone.git('add', '--all')
  clone.git('commit', '--quiet', '-m', 'second')
  assert.equal((await ask('changes', { path: clone.root })).json, [{ status: 'ADDED', path: 'b' }])
  clone.git('update-ref', 'refs/remotes/origin/mine', 'HEAD')
  assert.equal((await ask('changes', { path: clone.root })).json, [])
  const tree = join(folder, 'tree')
  clone.git('worktree', 'add', '--quiet', tree)
  assert.equal((await ask('changes', { path: tree })).json, [{ status: 'ADDED', path: 'b' }])
}))

test('compares a branch without an origin with the branch that it was made from',
  withRepository(async ({ repository, ask }) => {
  const changes = async (): Promise<unknown> => (await ask('changes', { path: repository.root })).json
  repository.write('a', 'one')
  repository.git('add', '--all')
  assert.equal(await changes(), [{ status: 'ADDED', path: 'a' }])
  repository.git('commit', '--quiet', '-m', 'first')
  assert.equal(await changes(), [])
  repository.git('checkout', '--quiet', '-b', 'mine')
  repository.write('a', 'two')
  repository.git('commit', '--quiet', '--all', '-m', 'second')
  assert.equal(await changes(), [{ status: 'UPDATED', path: 'a' }])
  // A commit that main has and this branch lacks is no change of this branch.
  repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', '-m', 'apart', 'HEAD^{tree}').trim())
  assert.equal(await changes(), [])
}))

test('gives both sides of a file', withRepository(async ({ repository, ask }) => {
  repository.write('d/a.txt', 'one\n')
  repository.write('gone/b.txt', 'gone\n')
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'first')
  repository.write('d/a.txt', 'two\n')
  repository.git('commit', '--quiet', '--all', '-m', 'second')
  repository.write('d/a.txt', 'three\n')
  rmSync(join(repository.root, 'gone'), { recursive: true })
  const path = join(repository.root, 'd/a.txt')
  assert.equal((await ask('diff', { path, ref: 'HEAD' })).json, { modified: 'three\n', original: 'two\n' })
  assert.equal((await ask('diff', { path })).json, { modified: 'three\n', original: 'two\n' })
  const commit = repository.git('rev-parse', '--short', 'HEAD').trim()
  assert.equal((await ask('diff', { path, commit })).json, { modified: 'two\n', original: 'one\n' })
  const first = repository.git('rev-parse', 'HEAD^').trim()
  assert.equal((await ask('diff', { path, commit: first })).json, { modified: 'one\n', original: null })
  const gone = join(repository.root, 'gone/b.txt')
  assert.equal((await ask('diff', { path: gone, ref: 'HEAD' })).json, { modified: null, original: 'gone\n' })
}))

test('answers 400 for a file that is too long, not there, or no file, and for two revisions',
  withRepository(async ({ repository, ask }) => {
  repository.write('small', 'x')
  repository.write('long', 'x'.repeat(1024 * 1024 + 1))
  repository.write('grown', 'x'.repeat(1024 * 1024 + 1))
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'first')
  repository.write('grown', 'x')
  mkdirSync(join(repository.root, 'folder'))
  for (const name of ['long', 'grown', 'none', 'folder', 'small/x']) {
    assert.is((await ask('diff', { path: join(repository.root, name), ref: 'HEAD' })).status, 400, name)
  }
  const path = join(repository.root, 'small')
  assert.is((await ask('diff', { path, ref: 'HEAD', commit: 'abcd' })).status, 400)
  assert.is((await ask('diff', { path, ref: 'none' })).status, 400)
  assert.is((await ask('diff', { path, commit: 'abcd' })).status, 400)
  assert.is((await ask('diff', { path, commit: 'HEAD' })).status, 422)
  assert.is((await ask('diff', { path: 'relative' })).status, 400)
  assert.is((await ask('commits/HEAD/changes', { path: repository.root })).status, 422)
  assert.is((await ask('commits', { path: repository.root, limit: '201' })).status, 422)
}))

test('lists commits and what each changed', withRepository(async ({ repository, ask }) => {
  assert.equal((await ask('commits', { path: repository.root })).json, { commits: [], has_more: false })
  assert.equal((await ask('changes', { path: repository.root, ref: 'HEAD' })).status, 400)
  assert.equal((await ask('changes', { path: repository.root })).json, [])
  for (const [index, subject] of ['first', 'with "quotes" and é', 'third'].entries()) {
    repository.write(`file${index}`, subject)
    repository.git('add', '--all')
    repository.git('commit', '--quiet', '--date=2026-01-02T03:04:05+02:00', '-m', subject)
  }
  const { json } = await ask('commits', { path: repository.root, limit: '2' })
  assert.equal(member(json, 'has_more'), true)
  assert.equal(listAt(json, 'commits').map((commit) => member(commit, 'subject')), ['third', 'with "quotes" and é'])
  const sha = repository.git('rev-parse', 'HEAD').trim()
  const short_sha = repository.git('rev-parse', '--short', 'HEAD').trim()
  assert.equal(member(json, 'commits', 0), { sha, short_sha, subject: 'third', author: 'A B',
    timestamp: '2026-01-02T03:04:05+02:00' })
  assert.equal((await ask(`commits/${sha}/changes`, { path: repository.root })).json, [{ status: 'ADDED',
    path: 'file2' }])
  const first = repository.git('rev-parse', 'HEAD~2').trim()
  assert.equal((await ask(`commits/${first}/changes`, { path: repository.root })).json, [{ status: 'ADDED',
    path: 'file0' }])
  assert.is((await ask('commits/abcdef/changes', { path: repository.root })).status, 400)
}))

test('has nothing to tell of a folder that is in no repository, is none, or is not there',
  withRepository(async ({ folder, ask }) => {
  mkdirSync(join(folder, 'plain'))
  symlinkSync('none', join(folder, 'broken'))
  for (const name of ['plain', 'none', 'none/deeper', 'broken']) {
    const path = join(folder, name)
    assert.equal((await ask('changes', { path })).json, [], name)
    assert.equal((await ask('commits', { path })).json, { commits: [], has_more: false })
    assert.equal((await ask('commits/abcd/changes', { path })).json, [])
    assert.equal((await ask('diff', { path: join(path, 'x') })).json, { modified: null, original: null })
  }
}))

test('answers as for no repository on a machine without git', () => withServer(async ({ rest, folder }) => {
  const root = join(folder, 'new')
  mkdirSync(root)
  await initRepository(root)
  const ask = async (route: string, path: string): Promise<unknown> =>
    (await rest.get(`/api/git/${route}?${String(new URLSearchParams({ path }))}`)).json
  assert.equal(await ask('changes', root), [])
  assert.equal(await ask('commits', root), { commits: [], has_more: false })
  assert.equal(await ask('commits/abcd/changes', root), [])
  assert.equal(await ask('diff', join(root, 'x')), { modified: null, original: null })
}, { environment: { PATH: '/nowhere' } }))

test.run()
