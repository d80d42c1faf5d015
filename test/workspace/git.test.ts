import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../support/suite.ts'
import { findRepository, initRepository } from '../../src/workspace/git.ts'

const test = suite('workspace/git', 30_000)
const environment = { PATH: process.env['PATH'] }

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

const name = 'makes a folder a repository, once'
if (!hasGit()) test.skip(name, 'there is no git')
else test(name, async () => {
  await withFolder(async (path) => {
    await initRepository(path, { environment, instance: 'test' })
    assert.ok(await exists(join(path, '.git', 'HEAD')))
    await writeFile(join(path, '.git', 'description'), 'mine')
    await initRepository(path, { environment, instance: 'test' })
    assert.is(await readFile(join(path, '.git', 'description'), 'utf8'), 'mine')
  })
})

test('leaves a folder inside a repository alone', async () => {
  await withFolder(async (path) => {
    await mkdir(join(path, '.git'))
    await mkdir(join(path, 'a', 'b'), { recursive: true })
    await initRepository(join(path, 'a', 'b'), { environment, instance: 'test' })
    assert.not.ok(await exists(join(path, 'a', 'b', '.git')))
  })
})

test('goes on without a repository where there is no git, or it fails', async () => {
  await withFolder(async (path) => {
    await initRepository(path, { environment: { PATH: '/nonexistent' }, instance: 'test' })
    const program = join(path, 'git')
    await writeFile(program, '#!/bin/sh\nexit 1\n')
    await chmod(program, 0o700)
    await initRepository(path, { environment: { PATH: path }, instance: 'test' })
    assert.not.ok(await exists(join(path, '.git')))
  })
})

test('starts git with what is given of the environment, in the folder', async () => {
  await withFolder(async (path) => {
    const program = join(path, 'git')
    await writeFile(program, '#!/bin/sh\n/usr/bin/env > seen\necho "$@" >> seen\n')
    await chmod(program, 0o700)
    await initRepository(path, { environment: { PATH: path, HOME: '/home/me', CANARY: 'x' }, instance: 'test' })
    const seen = await readFile(join(path, 'seen'), 'utf8')
    assert.match(seen, 'HOME=/home/me')
    assert.match(seen, 'init --quiet')
    assert.not.match(seen, 'CANARY')
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
