/** Repositories of tests, made by the real git in folders of their own. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface TestRepository {
  readonly root: string
  git(...args: readonly string[]): string
  write(path: string, content: string): void
  /** Writes a program that leaves a mark and fails; gives its path. */
  program(name: string, mark: string): string
}

export function makeRepository(root: string): TestRepository {
  mkdirSync(root, { recursive: true })
  const env = { PATH: process.env['PATH'], HOME: dirname(root), GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }
  const repository: TestRepository = {
    root,
    git: (...args) => execFileSync('git', args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 10_000 }).toString(),
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    },
    program(name, mark) {
      const path = join(dirname(root), name)
      writeFileSync(path, `#!/bin/sh\ntouch '${mark}'\nexit 1\n`)
      chmodSync(path, 0o755)
      return path
    },
  }
  repository.git('init', '--quiet', '--initial-branch=main')
  repository.git('config', 'user.name', 'A B')
  repository.git('config', 'user.email', 'a@example.org')
  return repository
}
