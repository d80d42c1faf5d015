/** The records of worktrees, when the data folder cannot take them. */
import * as assert from 'uvu/assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../../src/base/errors.ts'
import { WorktreeRecords, type Worktree } from '../../../src/parts/git/worktree-records.ts'
import { suite } from '../../support/suite.ts'

const test = suite('parts/git/worktree-records')

test('a folder of records that cannot be made is an error of the storage', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'worktree-records-'))
  try {
    writeFileSync(join(dataDir, 'worktrees'), '')
    const worktree: Worktree = {
      id: '01234567-89ab-4def-8123-456789abcdef', path: '/w/one', folder: '/w/one', gitDir: '/r/.git', state: 'planned',
      branch: 'work', base: 'a'.repeat(40),
    }
    const records = new WorktreeRecords(join(dataDir, 'worktrees'))
    const thrown = await records.write(worktree).catch((error: unknown) => error)
    assert.instance(thrown, AppError)
    assert.is(thrown instanceof AppError ? thrown.code : '', 'storage_failed')
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})

test.run()
