/**
 * The source that is looked at: every TypeScript file below `src`, of a folder or of a commit of its git repository.
 *
 * A folder without git, such as a vendored copy, can be read too. Nothing of the source is run.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSource, type SourceFile } from '../shape/source-file.ts'

/** The files of a folder that has a `src`. @throws Error without one */
export function readTree(root: string): readonly SourceFile[] {
  const src = join(root, 'src')
  if (!existsSync(join(src, 'cli/main.ts'))) throw new Error(`Cannot audit "${root}": expected a folder with a src`)
  return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts')).sort()
    .map((path) => path.replaceAll('\\', '/'))
    .map((path) => readSource(`src/${path}`, readFileSync(join(src, path), 'utf8')))
}

/** The files of a commit. @throws Error when git does not know it */
export function readCommit(root: string, ref: string): readonly SourceFile[] {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  try {
    const archive = join(folder, 'src.tar')
    run('git', ['-C', root, 'archive', '--format=tar', '-o', archive, ref, 'src'])
    run('tar', ['-xf', archive, '-C', folder])
    const src = join(folder, 'src')
    return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts')).sort()
      .map((path) => readSource(`src/${path}`, readFileSync(join(src, path), 'utf8')))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export interface Start {
  readonly ref: string
  /** What the commit is: `tag v1`, `first commit 1234567`. */
  readonly name: string
}

/** The newest tag that leads to this commit, else the first commit; undefined without a repository of its own. */
export function startOf(root: string): Start | undefined {
  if (!existsSync(join(root, '.git'))) return undefined
  const tag = answerOf('git', ['-C', root, 'describe', '--tags', '--abbrev=0', 'HEAD'])
  if (tag !== undefined) return { ref: tag, name: `tag ${tag}` }
  const first = answerOf('git', ['-C', root, 'log', '--reverse', '--format=%H', '--', 'src'])?.split('\n')[0]
  return first === undefined || first === '' ? undefined : { ref: first, name: `first commit ${first.slice(0, 8)}` }
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${(stderr ?? '').trim().split('\n')[0] ?? ''}`)
}

function answerOf(program: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return status === 0 ? stdout.trim() : undefined
}
