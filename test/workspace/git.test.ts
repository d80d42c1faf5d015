import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { findRepository, initRepository } from '../../src/workspace/git.ts'

const test = suite('workspace/git')

async function withFolder(body: (path: string) => Promise<void>): Promise<void> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'git-')))
  try {
    await body(path)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

const exists = (path: string): Promise<boolean> => stat(path).then(() => true, () => false)

function hasGit(): boolean {
  try {
    execFileSync('git', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test('makes a folder a repository, once', async () => {
  await withFolder(async (path) => {
    await initRepository(path)
    assert.is(await readFile(join(path, '.git', 'HEAD'), 'utf8'), 'ref: refs/heads/main\n')
    await writeFile(join(path, '.git', 'config'), 'mine')
    await initRepository(path)
    assert.is(await readFile(join(path, '.git', 'config'), 'utf8'), 'mine')
  })
})

test('makes one whole repository of two creations at once, and leaves nothing else', async () => {
  await withFolder(async (path) => {
    await Promise.all([initRepository(path), initRepository(path), initRepository(path)])
    assert.equal(await readdir(path), ['.git'])
    assert.equal((await readdir(join(path, '.git'))).sort(), ['HEAD', 'config', 'objects', 'refs'])
  })
})

test('nobody sees a half-made repository', async () => {
  await withFolder(async (path) => {
    let isDone = false
    const making = initRepository(path).finally(() => (isDone = true))
    const halves: string[] = []
    while (!isDone) {
      const names = existsSync(join(path, '.git')) ? readdirSync(join(path, '.git')).sort().join(' ') : ''
      if (names !== '' && names !== 'HEAD config objects refs') halves.push(names)
      await new Promise(setImmediate)
    }
    await making
    assert.equal(halves, [])
  })
})

test('makes files that others may read as the umask says', async () => {
  await withFolder(async (path) => {
    await initRepository(path)
    for (const file of ['HEAD', 'config']) {
      assert.is((await stat(join(path, '.git', file))).mode & 0o777, 0o666 & ~process.umask(), file)
    }
  })
})

const name = 'makes what git takes for an empty repository, and commits to'
if (!hasGit()) test.skip(name, 'there is no git')
else test(name, async () => {
  await withFolder(async (path) => {
    await initRepository(path)
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-C', path, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' })
    assert.is(git('fsck', '--strict'), '')
    assert.is(git('status', '--porcelain', '--branch'), '## No commits yet on main\n')
    const other = join(path, 'other')
    git('init', '--quiet', '-b', 'main', other)
    assert.is(await readFile(join(path, '.git/config'), 'utf8'), await readFile(join(other, '.git/config'), 'utf8'))
    await rm(other, { recursive: true })
    await writeFile(join(path, 'a'), 'a')
    git('add', 'a')
    git('commit', '--quiet', '--message', 'first')
    assert.is(git('log', '--format=%s'), 'first\n')
  })
})

test('leaves a folder inside a repository alone', async () => {
  await withFolder(async (path) => {
    await mkdir(join(path, '.git'))
    await mkdir(join(path, 'a', 'b'), { recursive: true })
    await initRepository(join(path, 'a', 'b'))
    assert.not.ok(await exists(join(path, 'a', 'b', '.git')))
  })
})

test('goes on without a repository where it cannot be made', async () => {
  await withFolder(async (path) => {
    await symlink(join(path, 'nowhere', 'else'), join(path, '.git'))
    await initRepository(path)
    assert.not.ok(await exists(join(path, '.git', 'HEAD')))
    assert.equal(await readdir(path), ['.git'])
  })
})

test('finds the repository that a folder is in, by real paths', async () => {
  await withFolder(async (path) => {
    const folder = join(path, 'a', 'b')
    await mkdir(folder, { recursive: true })
    assert.is(await findRepository(folder), undefined)
    assert.is(await findRepository(join(path, 'missing')), undefined)
    // In a work tree of its own, .git is a file.
    await writeFile(join(path, '.git'), 'gitdir: elsewhere')
    await symlink(folder, join(path, 'link'))
    for (const given of [folder, join(path, 'link')]) assert.equal(await findRepository(given), { root: path, folder })
    await mkdir(join(folder, '.git'))
    assert.equal(await findRepository(folder), { root: folder, folder })
  })
})

test('a repository of another user is none', async () => {
  await withFolder(async (path) => {
    const folder = join(path, 'a')
    await mkdir(folder)
    if (process.getuid?.() === 0) {
      await mkdir(join(path, '.git'))
      await chown(join(path, '.git'), 12345, 12345)
    } else {
      await symlink('/', join(path, '.git'))
    }
    assert.is(await findRepository(folder), undefined)
  })
})

test.run()
