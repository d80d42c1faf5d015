/** The audit of a folder with a repository: nothing that its settings name runs. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { newestTag, readCommit } from '../../../scripts/audit/tree.ts'
import { suite } from '../../support/suite.ts'

const test = suite('scripts/audit/tree')

/** Calls `use` with a repository of one commit, whose settings name a program that writes `proof` for each use. */
async function withHostile(use: (root: string, proof: string) => void): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'audit-tree-'))
  const git = (...args: readonly string[]): void => {
    const names = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid']
    const { status, stderr } = spawnSync('git', ['-C', root, ...names, ...args], { encoding: 'utf8' })
    assert.is(status, 0, stderr)
  }
  try {
    const proof = join(root, 'proof')
    await mkdir(join(root, 'src'))
    await writeFile(join(root, 'src/a.ts'), "export const a = 'b'\n")
    await writeFile(join(root, '.gitattributes'), '*.ts filter=evil\n')
    git('init', '--quiet')
    git('add', '.')
    git('commit', '--quiet', '-m', 'a')
    git('tag', 'v1')
    const program = JSON.stringify(`sh -c 'touch ${proof}; cat'`)
    await appendFile(join(root, '.git/config'), `[filter "evil"]\n\tsmudge = ${program}\n\trequired = true\n` +
      `[core]\n\tfsmonitor = ${program}\n[tar "tar"]\n\tcommand = ${program}\n`)
    use(root, proof)
  } finally {
    await rm(root, { recursive: true })
  }
}

test('reads the newest tag and its files without the filters of the repository', async () => {
  await withHostile((root, proof) => {
    assert.is(newestTag(root), 'v1')
    assert.equal(readCommit(root, 'v1').map(({ path, text }) => [path, text]), [['src/a.ts', "export const a = 'b'\n"]])
    assert.throws(() => readCommit(root, 'v2'), /git failed/)
    assert.not(existsSync(proof))
    spawnSync('git', ['-C', root, 'archive', '--format=tar', 'v1', 'src'])
    assert.ok(existsSync(proof), 'git in the folder itself runs the filter')
  })
})

test.run()
