/**
 * Repositories whose configuration, attributes and hooks name a program: nothing of it is started by any route.
 *
 * Each row first shows that git by itself starts the program, so that a row cannot pass for another reason.
 */
import { existsSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { withServer } from '../../support/server.ts'
import { suite } from '../../support/suite.ts'
import { makeRepository, type TestRepository } from './repositories.ts'

const test = suite('parts/git hostile repositories')

interface Trap {
  /** Arms the repository; the program leaves the mark when it runs. */
  readonly arm: (repository: TestRepository, program: string) => void
  /** Arguments with which git alone starts the program. */
  readonly springs: readonly string[]
}

const configure = (repository: TestRepository, ...values: readonly (readonly [string, string])[]): void => {
  for (const [key, value] of values) repository.git('config', key, value)
}
const attribute = (repository: TestRepository, value: string): void => repository.write('.gitattributes',
  `*.txt ${value}\n`)

const traps: Readonly<Record<string, Trap>> = {
  'a hook by core.hooksPath': {
    arm(repository, program) {
      repository.git('config', 'core.hooksPath', join(repository.root, 'hooks'))
      repository.write('hooks/post-index-change', `#!/bin/sh\n${program} </dev/null\n`)
      repository.git('update-index', '--refresh')
      repository.git('-c', 'core.hooksPath=/dev/null', 'config', 'core.fileMode', 'true')
      require755(repository, 'hooks/post-index-change')
    },
    springs: ['status'],
  },
  'a file monitor': {
    arm: (repository, program) => configure(repository, ['core.fsmonitor', program]),
    springs: ['status'],
  },
  'a text conversion': {
    arm(repository, program) {
      configure(repository, ['diff.evil.textconv', program])
      attribute(repository, 'diff=evil')
    },
    springs: ['diff', 'HEAD'],
  },
  'an external diff': { arm: (repository, program) => configure(repository, ['diff.external', program]),
    springs: ['diff', 'HEAD'] },
  'an external diff of a driver': {
    arm(repository, program) {
      configure(repository, ['diff.evil.command', program])
      attribute(repository, 'diff=evil')
    },
    springs: ['diff', 'HEAD'],
  },
  'a filter': {
    arm(repository, program) {
      configure(repository, ['filter.evil.clean', program], ['filter.evil.smudge', program], ['filter.evil.required',
        'true'])
      attribute(repository, 'filter=evil')
    },
    springs: ['diff', '--name-status', 'HEAD'],
  },
  'a filter that stays': {
    arm(repository, program) {
      configure(repository, ['filter.evil.process', program])
      attribute(repository, 'filter=evil')
    },
    springs: ['diff', '--name-status', 'HEAD'],
  },
  'a filter of an included file with a dot and a blank in its name': {
    arm(repository, program) {
      repository.write('more', `[filter "e. vil"]\n\tclean = ${program}\n`)
      configure(repository, ['include.path', join(repository.root, 'more')], ['filter.evil.clean', program])
      attribute(repository, 'filter=evil')
    },
    springs: ['diff', '--name-status', 'HEAD'],
  },
  'a submodule with a file monitor': {
    arm(repository, program) {
      const inner = makeRepository(join(repository.root, 'inner'))
      inner.git('commit', '--quiet', '--allow-empty', '-m', 'inner')
      repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', './inner')
      inner.git('config', 'core.fsmonitor', program)
    },
    springs: ['diff', '--name-status', 'HEAD'],
  },
  'a check of signatures': {
    arm(repository, program) {
      const commit = repository.git('cat-file', 'commit', 'HEAD')
      const signed = commit.replace(/\n\n/,
        '\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n')
      repository.write('../signed', signed)
      repository.git('reset', '--soft', repository.git('hash-object', '-t', 'commit', '-w', '../signed').trim())
      configure(repository, ['log.showSignature', 'true'], ['gpg.program', program])
    },
    springs: ['log'],
  },
  'a missing object that is fetched': {
    arm(repository, program) {
      configure(repository, ['core.sshCommand', program], ['remote.origin.url', 'ssh://example.invalid/x'])
      configure(repository, ['remote.origin.promisor', 'true'], ['extensions.partialClone', 'origin'],
        ['core.repositoryFormatVersion', '1'])
      const blob = repository.git('rev-parse', 'HEAD:tracked.txt').trim()
      rmSync(join(repository.root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)))
    },
    springs: ['cat-file', 'blob', 'HEAD:tracked.txt'],
  },
}

function require755(repository: TestRepository, path: string): void {
  repository.git('-c', 'alias.x=!chmod 755', 'x', path)
}

for (const [what, { arm, springs }] of Object.entries(traps)) {
  test(`starts nothing: ${what}`, () => withServer(async ({ rest, folder }) => {
    const repository = makeRepository(join(folder, 'repository'))
    const mark = join(folder, 'mark')
    repository.write('tracked.txt', 'one\n')
    repository.write('same.txt', 'same\n')
    repository.git('add', '--all')
    repository.git('commit', '--quiet', '-m', 'first')
    arm(repository, repository.program('program', mark))
    repository.write('tracked.txt', 'two\n')
    const later = new Date(Date.now() + 5000)
    // A file with another time and the same content: `git status` writes the index again, at any time of the clock.
    for (const name of ['tracked.txt', 'same.txt']) utimesSync(join(repository.root, name), later, later)
    try {
      repository.git(...springs)
    } catch { /* some traps make git fail */ }
    assert.ok(existsSync(mark), `git ${springs.join(' ')} does not start the program`)
    rmSync(mark)
    const root = encodeURIComponent(repository.root)
    const file = encodeURIComponent(join(repository.root, 'tracked.txt'))
    const sha = repository.git('rev-parse', 'HEAD').trim()
    const statuses: number[] = []
    for (const path of [
      `changes?path=${root}&ref=HEAD`, `diff?path=${file}&ref=HEAD`, `commits?path=${root}`,
        `commits/${sha}/changes?path=${root}`,
    ]) {
      statuses.push((await rest.get(`/api/git/${path}`)).status)
      assert.is(existsSync(mark), false, path)
    }
    const isWhole = !what.startsWith('a missing object')
    if (isWhole) assert.equal(statuses, statuses.map(() => 200))
    assert.equal(readdirSync(join(repository.root, '.git')).filter((name) => name.endsWith('.lock')), [])
  }))
}

test('refuses a repository with a filter whose name cannot be overridden',
  () => withServer(async ({ rest, folder }) => {
  const repository = makeRepository(join(folder, 'repository'))
  const mark = join(folder, 'mark')
  repository.write('.git/config', `[filter "a=b"]\n\tclean = ${repository.program('program', mark)}\n`)
  assert.is((await rest.get(`/api/git/changes?path=${encodeURIComponent(repository.root)}`)).status, 400)
  assert.is(existsSync(mark), false)
}))

test('takes a revision for no option, and looks at no other folder',
  () => withServer(async ({ rest, folder, dataDir }) => {
  const repository = makeRepository(join(folder, 'repository'))
  repository.write('a', 'x')
  repository.git('add', '--all')
  repository.git('commit', '--quiet', '-m', 'first')
  const root = encodeURIComponent(repository.root)
  for (const ref of [`--output=${folder}/made`, '-O/etc/passwd', 'HEAD:a', 'no-such', '', 'HEAD\n', 'x'.repeat(2000)]) {
    const { status } = await rest.get(`/api/git/changes?path=${root}&ref=${encodeURIComponent(ref)}`)
    assert.ok(status === 400 || status === 422, ref)
  }
  assert.is(existsSync(join(folder, 'made')), false)
  repository.git('config', 'core.worktree', dataDir)
  const { json } = await rest.get(`/api/git/changes?path=${root}&ref=HEAD`)
  assert.equal(json, [])
  assert.is((await rest.get(`/api/git/changes?path=${encodeURIComponent(dataDir)}`)).status, 403)
  assert.is((await rest.get(`/api/git/diff?path=${encodeURIComponent(join(dataDir, 'settings.json'))}`)).status, 403)
}))

test.run()
