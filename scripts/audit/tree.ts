/**
 * The source that is looked at: every TypeScript file below `src`, of a folder or of a commit of its git repository.
 *
 * A folder without git, such as a vendored copy, can be read too. Nothing of the folder is run: the settings of its
 * repository may name programs, so git reads a bare clone that borrows its objects, and has settings of its own.
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
  return withClone(root, (clone, folder) => {
    const archive = join(folder, 'src.tar')
    run('git', ['-C', clone, 'archive', '--format=tar', '-o', archive, ref, 'src'])
    run('tar', ['-xf', archive, '-C', folder])
    const src = join(folder, 'src')
    return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts')).sort()
      .map((path) => readSource(`src/${path}`, readFileSync(join(src, path), 'utf8')))
  })
}

/** Calls `use` with a clone and a folder that are removed afterwards. */
function withClone<T>(root: string, use: (clone: string, folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  try {
    const clone = join(folder, 'clone')
    run('git', ['clone', '--quiet', '--mirror', '--shared', '--template=', '--', root, clone])
    return use(clone, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The newest tag that leads to this commit; undefined without a tag, or when git refuses the repository. */
export function newestTag(root: string): string | undefined {
  try {
    return withClone(root, (clone) => answerOf('git', ['-C', clone, 'describe', '--tags', '--abbrev=0', 'HEAD']))
  } catch {
    return undefined // For example a repository of another user.
  }
}

/** True for a folder with a repository of its own. */
export function hasRepository(root: string): boolean {
  return existsSync(join(root, '.git'))
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${(stderr ?? '').trim().split('\n')[0] ?? ''}`)
}

function answerOf(program: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return status === 0 ? stdout.trim() : undefined
}
