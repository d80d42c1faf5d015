/** Git worktrees of conversations: made, worked in, kept and removed. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { member, type RestResponse } from '../../support/rest.ts'
import { inServer, withServer, type Reachable, type TestServer, type TestServerOptions } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { makeRepository, type TestRepository } from './repositories.ts'

const test = suite('parts/git worktrees')

interface World extends TestServer {
  readonly repository: TestRepository
}

/** Runs a body with a server and a repository with one commit, which has `sub/a.txt`. */
function withRepository(body: (world: World) => Promise<void>, options?: TestServerOptions): () => Promise<void> {
  return () => withServer((server) => {
    return body({ ...server, repository: committed(join(server.folder, 'project')) })
  }, options)
}

function committed(root: string): TestRepository {
  const repository = makeRepository(root)
  repository.write('sub/a.txt', 'one\n')
  repository.write('.gitignore', 'ignored\n')
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'first')
  return repository
}

interface Made {
  readonly id: string
  readonly dir: string
  readonly ignored: unknown
}

async function create({ rest }: Reachable, folder: string, more: object = {}): Promise<Made> {
  const answer = await rest.post('/api/conversations', { workspace: { working_dir: folder }, worktree: true, ...more })
  assert.is(answer.status, 201, answer.text)
  const [id, dir] = [member(answer.json, 'id'), member(answer.json, 'workspace', 'working_dir')].map(String)
  return { id: id ?? '', dir: dir ?? '', ignored: answer.headers['x-ignored-members'] }
}

const remove = ({ rest }: Reachable, { id }: Made): Promise<RestResponse> => rest.delete(`/api/conversations/${id}`)

/** The worktrees, branches and folders of worktrees that there are, and the records of them. */
function left({ repository, dataDir, workspaceDir }: World): unknown {
  const files = (path: string): string[] => (existsSync(path) ? readdirSync(path) : [])
  return {
    worktrees: repository.git('worktree', 'list').trim().split('\n').length - 1,
    branches: repository.git('branch', '--format=%(refname:short)').trim().split('\n').filter((one) => one !== 'main'),
    folders: files(join(workspaceDir, 'worktrees')),
    records: files(join(dataDir, 'worktrees')),
  }
}

const nothing = { worktrees: 0, branches: [], folders: [], records: [] }

test('each conversation has a worktree and a branch of its own, removed with it', withRepository(async (world) => {
  const { repository, workspaceDir } = world
  repository.write('sub/a.txt', 'changed by the user\n')
  const [one, two] = [await create(world, repository.root), await create(world, repository.root)]
  assert.equal([one.ignored, one.dir], [undefined, join(workspaceDir, 'worktrees', one.id, 'project')])
  assert.is.not(one.dir, two.dir)
  const tree = makeRepository(one.dir)
  assert.is(tree.git('branch', '--show-current').trim(), `openhands/${one.id}`)
  assert.is(tree.git('status', '--porcelain'), '')
  assert.is(repository.git('status', '--porcelain').trim(), 'M sub/a.txt')
  tree.write('ignored', 'made by a build')
  for (const made of [one, two]) {
    const answer = await remove(world, made)
    assert.equal([answer.status, answer.headers['x-kept-worktree']], [200, undefined])
  }
  assert.equal(left(world), nothing)
}))

test('works in the same folder of the worktree, and makes it where the commit has none',
  withRepository(async (world) => {
  const { repository } = world
  const inside = await create(world, join(repository.root, 'sub'))
  assert.ok(inside.dir.endsWith('/project/sub') && existsSync(join(inside.dir, 'a.txt')))
  mkdirSync(join(repository.root, 'new/er'), { recursive: true })
  const outside = await create(world, join(repository.root, 'new/er'))
  assert.ok(outside.dir.endsWith('/project/new/er') && existsSync(outside.dir))
  await remove(world, inside)
  await remove(world, outside)
  assert.equal(left(world), nothing)
}))

test('refuses a folder that is a link in the commit, and leaves nothing', withRepository(async (world) => {
  const { repository, folder } = world
  symlinkSync(folder, join(repository.root, 'link'))
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'a link')
  rmSync(join(repository.root, 'link'))
  mkdirSync(join(repository.root, 'link'))
  const body = { workspace: { working_dir: join(repository.root, 'link') }, worktree: true }
  const answer = await world.rest.post('/api/conversations', body)
  assert.equal([answer.status, member(answer.json, 'detail')],
    [422, 'Cannot make a worktree: "link" is no folder in its first commit'])
  assert.equal(left(world), nothing)
}))

const starts: Readonly<Record<string, (repository: TestRepository) => void>> = {
  "origin's default branch": (repository) => {
    repository.git('update-ref', 'refs/remotes/origin/trunk', 'start')
    repository.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk')
  },
  'the branch main': (repository) => repository.git('branch', '--force', 'main', 'start'),
  'the branch master': (repository) => {
    repository.git('branch', '--quiet', '-D', 'main')
    repository.git('branch', 'master', 'start')
  },
  'HEAD without a branch': (repository) => {
    repository.git('branch', '--quiet', '-D', 'main')
    repository.git('checkout', '--quiet', '--detach', 'start')
    repository.git('branch', '--quiet', '-D', 'feature')
  },
}

for (const [start, arrange] of Object.entries(starts)) {
  test(`the branch begins with ${start}`, withRepository(async (world) => {
    const { repository } = world
    repository.git('tag', 'start')
    repository.git('checkout', '--quiet', '-b', 'feature')
    repository.git('commit', '--quiet', '--allow-empty', '-m', 'second')
    arrange(repository)
    const before = repository.git('rev-parse', 'start')
    repository.git('tag', '--delete', 'start')
    const made = await create(world, repository.root)
    assert.is(repository.git('rev-parse', `openhands/${made.id}`), before)
    assert.is((await remove(world, made)).headers['x-kept-worktree'], undefined)
    assert.is(repository.git('worktree', 'list').trim().split('\n').length, 1)
  }))
}

const works: Readonly<Record<string, (tree: TestRepository) => void>> = {
  'a changed file': (tree) => tree.write('sub/a.txt', 'two\n'),
  'a removed file': (tree) => rmSync(join(tree.root, 'sub/a.txt')),
  'a new file': (tree) => tree.write('new.txt', ''),
  'a new file in the index': (tree) => {
    tree.write('new.txt', '')
    tree.git('add', '--all')
  },
  'a commit on its branch': (tree) => tree.git('commit', '--quiet', '--allow-empty', '-m', 'second'),
  'a commit on no branch': (tree) => {
    tree.git('checkout', '--quiet', '--detach')
    tree.git('commit', '--quiet', '--allow-empty', '-m', 'second')
  },
  'a commit on its branch, another one checked out': (tree) => {
    tree.git('commit', '--quiet', '--allow-empty', '-m', 'second')
    tree.git('checkout', '--quiet', '--detach', 'main')
  },
  'a repository inside': (tree) => void committed(join(tree.root, 'inner')),
  'a worktree whose .git is gone': (tree) => rmSync(join(tree.root, '.git')),
}

for (const [work, arrange] of Object.entries(works)) {
  test(`keeps ${work}, and says so`, withRepository(async (world) => {
    const made = await create(world, world.repository.root)
    arrange(makeRepositoryAt(made.dir))
    const answer = await remove(world, made)
    assert.equal([answer.status, answer.headers['x-kept-worktree']], [200, encodeURI(made.dir)])
    assert.is(answer.headers['access-control-expose-headers'], 'X-Kept-Worktree')
    assert.ok(existsSync(join(made.dir, '.gitignore')))
    assert.ok(repositoryHas(world, `openhands/${made.id}`))
    assert.match(world.log.join(''), /A worktree (was kept|could not be removed)/)
    const again = await world.rest.post('/api/conversations', {
      conversation_id: made.id, workspace: { working_dir: world.repository.root }, worktree: true,
    })
    assert.is(again.status, 409)
  }))
}

const repositoryHas = ({ repository }: World, branch: string): boolean => {
  return repository.git('branch', '--list', branch).trim() !== ''
}

/** Git in a folder that is a worktree already. */
function makeRepositoryAt(root: string): TestRepository {
  return makeRepository(root)
}

test('removes a worktree whose commits are on another branch, with its branch', withRepository(async (world) => {
  const made = await create(world, world.repository.root)
  const tree = makeRepositoryAt(made.dir)
  tree.git('commit', '--quiet', '--allow-empty', '-m', 'second')
  tree.git('branch', 'published')
  assert.is((await remove(world, made)).headers['x-kept-worktree'], undefined)
  assert.equal(left(world), { ...nothing, branches: ['published'] })
}))

test('removes what is left of a worktree that somebody has removed', withRepository(async (world) => {
  const made = await create(world, world.repository.root)
  rmSync(made.dir, { recursive: true })
  await remove(world, made)
  assert.equal(left(world), nothing)
}))

test('a link in place of a worktree leads nowhere', withRepository(async (world) => {
  const { repository, folder } = world
  repository.git('worktree', 'add', '--quiet', '-b', 'mine', join(folder, 'mine'))
  const made = await create(world, repository.root)
  renameSync(made.dir, join(folder, 'moved'))
  symlinkSync(join(folder, 'mine'), made.dir)
  assert.is((await remove(world, made)).headers['x-kept-worktree'], encodeURI(made.dir))
  assert.ok(existsSync(join(folder, 'mine/sub/a.txt')) && existsSync(join(folder, 'moved/sub/a.txt')))
}))

test('a fork and a conversation that names the folder keep the worktree alive', withRepository(async (world) => {
  const made = await create(world, world.repository.root)
  const fork = await world.rest.post(`/api/conversations/${made.id}/fork`)
  assert.is(member(fork.json, 'workspace', 'working_dir'), made.dir)
  const guest = await create(world, made.dir, { worktree: false })
  await remove(world, made)
  assert.ok(existsSync(made.dir))
  await remove(world, guest)
  assert.ok(existsSync(made.dir))
  await world.rest.delete(`/api/conversations/${String(member(fork.json, 'id'))}`)
  assert.equal(left(world), nothing)
}))

test('makes a worktree of a worktree, of a submodule, and beside submodules', withRepository(async (world) => {
  const { repository, folder } = world
  const module = committed(join(folder, 'module'))
  repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', module.root, 'module')
  repository.git('commit', '--quiet', '--all', '-m', 'a submodule')
  const first = await create(world, repository.root)
  assert.equal(readdirSync(join(first.dir, 'module')), [])
  const second = await create(world, first.dir)
  const third = await create(world, join(repository.root, 'module'))
  assert.ok(existsSync(join(second.dir, 'sub/a.txt')) && existsSync(join(third.dir, 'sub/a.txt')))
  for (const made of [first, second, third]) {
    assert.is((await remove(world, made)).headers['x-kept-worktree'], undefined)
  }
  assert.equal(left(world), nothing)
}))

const withoutTree: Readonly<Record<string, (folder: string) => string>> = {
  'no repository': (folder) => join(folder, 'plain'),
  'no commit': (folder) => makeRepository(join(folder, 'empty')).root,
  'a bare repository': (folder) => {
    committed(join(folder, 'source')).git('clone', '--quiet', '--bare', '.', join(folder, 'bare.git'))
    return join(folder, 'bare.git')
  },
}

for (const [what, arrange] of Object.entries(withoutTree)) {
  test(`works in the folder itself where there is ${what}, and says so`, withRepository(async (world) => {
    const path = arrange(world.folder)
    const made = await create(world, path)
    assert.equal([made.dir, made.ignored], [path, 'worktree'])
    await remove(world, made)
    assert.ok(existsSync(path))
  }))
}

test('works in the folder itself without the part, and says so', withRepository(async (world) => {
  const made = await create(world, world.repository.root)
  assert.equal([made.dir, made.ignored], [world.repository.root, 'worktree'])
  await remove(world, made)
  assert.ok(existsSync(join(world.repository.root, 'sub/a.txt')))
}, { parts: ['builtin'] }))

test('a request that fails afterwards leaves no worktree', withRepository(async (world) => {
  const { repository, rest } = world
  const body = { workspace: { working_dir: repository.root }, worktree: true }
  const parent = '01234567-89ab-4def-8123-456789abcdef'
  assert.is((await rest.post('/api/conversations', { ...body, parent_conversation_id: parent })).status, 422)
  assert.equal(left(world), nothing)
  // Two at once with one id: a worktree that only the loser made is removed.
  const [one, two] = await Promise.all([
    rest.post('/api/conversations', { ...body, conversation_id: parent }),
    rest.post('/api/conversations', { ...body, conversation_id: parent, worktree: false }),
  ])
  assert.equal([one, two].map(({ status }) => status).sort(), [200, 201])
  await rest.delete(`/api/conversations/${parent}`)
  assert.equal(left(world), nothing)
}))

test('a folder of worktrees in the data folder is refused', () => withServer(async (server) => {
  const repository = committed(join(server.folder, 'project'))
  const body = { workspace: { working_dir: repository.root }, worktree: true }
  assert.is((await server.rest.post('/api/conversations', body)).status, 422)
}, { worktreeDir: join('/', 'proc', 'self') }))

test('is there after a restart, and removed then', () => withServer(async (first) => {
  const repository = committed(join(first.folder, 'project'))
  const made = await create(first, repository.root)
  await first.server.close()
  await inServer(first.folder, async (second) => {
    const found = await second.rest.get(`/api/conversations/${made.id}`)
    assert.is(member(found.json, 'workspace', 'working_dir'), made.dir)
    assert.ok(existsSync(join(made.dir, 'sub/a.txt')))
    await remove(second, made)
    assert.equal(left({ ...second, repository }), nothing)
  })
}))

test('removes at the start what a killed server left, if it made it and it is clean',
  () => withServer(async (first) => {
  const repository = committed(join(first.folder, 'project'))
  const [kept, clean, changed] = [await create(first, repository.root), await create(first, repository.root),
    await create(first, repository.root)]
  writeFileSync(join(changed.dir, 'new.txt'), 'a change')
  await first.server.close()
  for (const { id } of [clean, changed]) {
    rmSync(join(first.dataDir, 'conversations', id), { recursive: true, force: true })
    rmSync(join(first.dataDir, 'conversations', id.replaceAll('-', '')), { recursive: true, force: true })
  }
  rmSync(join(first.dataDir, 'list.json'))
  const foreign = join(first.workspaceDir, 'worktrees', '01234567-89ab-4def-8123-456789abcdef', 'project')
  repository.git('worktree', 'add', '--quiet', '-b', 'foreign', foreign)
  await inServer(first.folder, async (second) => {
    // The worktree of the same id is looked at before this request makes another one.
    assert.is((await create(second, repository.root, { conversation_id: clean.id })).id, clean.id)
    const answer = await second.rest.post('/api/conversations', {
      conversation_id: changed.id, workspace: { working_dir: repository.root }, worktree: true,
    })
    assert.is(answer.status, 409)
    assert.ok(existsSync(join(kept.dir, 'sub/a.txt')) && existsSync(join(changed.dir, 'new.txt')))
    assert.ok(existsSync(join(foreign, 'sub/a.txt')))
    assert.equal(readdirSync(join(second.dataDir, 'worktrees')).sort(), [`${clean.id}.json`, `${kept.id}.json`].sort())
  })
}))

interface Trap {
  /** Files of the commit, by path; `PROGRAM` stands for the program. */
  readonly files?: Readonly<Record<string, string>>
  readonly config?: readonly (readonly [key: string, value: string])[]
  /** The name of a hook. */
  readonly hook?: string
}

const filter = { files: { '.gitattributes': '*.txt filter=evil\n' } }
const traps: Readonly<Record<string, Trap>> = {
  'the hook post-checkout': { hook: 'post-checkout' },
  'the hook post-index-change': { hook: 'post-index-change' },
  'the hook reference-transaction': { hook: 'reference-transaction' },
  'a filter': { ...filter, config: [['filter.evil.smudge', 'PROGRAM'], ['filter.evil.clean', 'cat']] },
  'a filter that stays': { ...filter, config: [['filter.evil.process', 'PROGRAM'], ['filter.evil.clean', 'cat']] },
  'a file monitor': { config: [['core.fsmonitor', 'PROGRAM']] },
}

/** Returns the repository of a trap. The program leaves the mark when it runs, and fails. */
function armed(folder: string, { files = {}, config = [], hook }: Trap, mark: string): TestRepository {
  const repository = makeRepository(join(folder, 'project'))
  for (const [path, content] of Object.entries(files)) repository.write(path, content)
  repository.write('a.txt', 'one\n')
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'first')
  const program = repository.program('program', mark)
  for (const [key, value] of config) repository.git('config', key, value.replace('PROGRAM', program))
  if (hook !== undefined) {
    repository.git('config', 'core.hooksPath', join(folder, 'hooks'))
    mkdirSync(join(folder, 'hooks'))
    writeFileSync(join(folder, 'hooks', hook), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 })
  }
  return repository
}

for (const [what, trap] of Object.entries(traps)) {
  test(`starts nothing when a worktree is made and removed: ${what}`, () => withServer(async (server) => {
    const mark = join(server.folder, 'mark')
    const repository = armed(server.folder, trap, mark)
    const own = join(server.folder, 'own')
    try {
      repository.git('worktree', 'add', '--quiet', '-b', 'own', own)
      makeRepositoryAt(own).git('status')
    } catch { /* some traps make git fail */ }
    assert.ok(existsSync(mark), 'git alone does not start the program')
    rmSync(mark)
    const made = await create(server, repository.root)
    assert.ok(existsSync(join(made.dir, 'a.txt')))
    assert.is(existsSync(mark), false, 'it ran when the worktree was made')
    await remove(server, made)
    assert.equal([existsSync(mark), existsSync(made.dir)], [false, false])
  }))
}

test.run()
