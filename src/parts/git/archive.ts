/**
 * Sends the work in a folder as one file: a git patch, or a tar.gz archive. Both leave out the excluded paths.
 *
 * The patch has the changes of the folder since a base revision, with the untracked files that git does not ignore.
 * Making the patch leaves the repository unchanged.
 */
import { randomUUID } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { pipeline } from 'node:stream'
import { createGzip } from 'node:zlib'
import { clientSignal, invalid, queryOf, type Call } from '../../api/call.ts'
import { AppError, undefinedIfMissing } from '../../base/errors.ts'
import { makeFolder, ownFolder, removeTree } from '../../base/own-files.ts'
import { attachment, sendPieces } from '../../http/pieces.ts'
import { boolean, list, oneOf, required, text, withDefault } from '../../http/query.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { walkTree } from '../workspace-files/directory.ts'
import { openFile } from '../workspace-files/files.ts'
import { findRepository, type Repository } from '../../workspace/git.ts'
import type { Machine } from '../workspace-files/machine.ts'
import { isExcluded, pathspecsOf, usualExcludes } from './excludes.ts'
import { History } from './history.ts'
import type { Git, RunGit } from './program.ts'
import { writeTar, type TarEntry } from './tar.ts'

export interface ArchiveParts {
  readonly machine: Machine
  readonly git: Git
  /** The folder for temporary files. */
  readonly runtimeDir: string
  readonly stallTimeoutMs: number
}

/** The most entries of a folder, including left-out entries, for a tar.gz archive. A larger folder is refused. */
const entryLimit = 200_000
/** The most exclude patterns of a request. */
const excludeLimit = 200
const pieceBytes = 128 * 1024
const query = {
  path: required(text({ maxLength: 4096 })),
  format: withDefault(oneOf(['git-delta', 'tar.gz']), 'git-delta'),
  base_ref: text({ maxLength: 1024 }),
  use_default_excludes: withDefault(boolean(), true),
  exclude: list(text({ maxLength: 256 })),
}

/**
 * Sends the patch or the archive.
 * @throws AppError `not_found` or `forbidden` for the folder; `invalid_input` for the query; `bad_request` when the
 * path is not a folder in a repository, for an unknown base, when git fails, or when `listFiles` cannot list every file
 */
export async function sendArchive(parts: ArchiveParts, call: Call): Promise<HttpResponse> {
  const { path, format, base_ref, use_default_excludes, exclude } = queryOf(call, query)
  if (exclude.length > excludeLimit || exclude.some((pattern) => /\p{Cc}/u.test(pattern))) {
    const msg = `Value error, expected at most ${excludeLimit} patterns without control characters`
    throw invalid([{ type: 'value_error', loc: ['query', 'exclude'], msg, input: null }])
  }
  const excludes = [...(use_default_excludes ? usualExcludes : []), ...exclude]
  const folder = await folderAt(parts.machine, path)
  const repository = await findRepository(folder)
  if (repository === undefined) throw new AppError('bad_request', 'The folder is in no git repository')
  const signal = clientSignal(call)
  const run = await parts.git.open(repository, signal)
  const base = await new History(run).baseOf(base_ref)
  const options = {
    headers: [...await originOf(run, repository), ...headers({ 'Base-Commit': base.commit, 'Base-Ref': base_ref })],
    stallTimeoutMs: parts.stallTimeoutMs,
  }
  const name = basename(folder)
  if (format === 'tar.gz') {
    const found = await listFiles(parts.machine, folder, { excludes, signal })
    const pieces = archiveOf(parts.machine, folder, { found, excludes, signal })
    const named = { ...options, headers: [...options.headers, ...attachment(`${name}.tar.gz`)] }
    return sendPieces(pieces, { ...named, type: 'application/gzip' })
  }
  const patch = await patchOf(run, base.tree, { runtimeDir: parts.runtimeDir, repository, excludes })
  const type = 'text/x-patch'
  return { status: 200, type, headers: [...options.headers, ...attachment(`${name}.patch`)], body: patch }
}

async function folderAt(machine: Machine, path: string): Promise<string> {
  const found = await machine.at(path, async ({ kind, path: real }) => ({ kind, real }))
  if (found.kind === 'nothing') throw new AppError('not_found', 'There is no such folder')
  if (found.kind !== 'directory') throw new AppError('bad_request', 'The path is no folder')
  return resolve(found.real)
}

/** Returns a header `X-Archive-NAME` for each value that is not empty. The value is percent-encoded. */
function headers(values: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    return value === undefined || value === '' ? [] : [`X-Archive-${name}`, encodeURIComponent(value)]
  })
}

async function originOf(run: RunGit, { root }: Repository): Promise<readonly string[]> {
  const line = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout } = await run(args)
    return code === 0 ? stdout.toString().trim().slice(0, 2048) : ''
  }
  return headers({
    'Repo-Remote': (await line('config', '--get', 'remote.origin.url')).replace(/^(\w[\w+.-]*:\/\/)[^/]*@/, '$1'),
    Branch: await line('symbolic-ref', '--quiet', '--short', 'HEAD'),
    'Head-Commit': await line('rev-parse', '--verify', '--quiet', 'HEAD'),
    'Repo-Root': root,
  })
}

interface PatchOptions {
  readonly runtimeDir: string
  readonly repository: Repository
  readonly excludes: readonly string[]
}

async function patchOf(
  run: RunGit, tree: string, { runtimeDir, repository: { folder }, excludes }: PatchOptions,
): Promise<Buffer> {
  const work = join(runtimeDir, `archive-${randomUUID()}`)
  const objects = join(work, 'objects')
  try {
    await makeFolder(objects, ownFolder)
    // Git tells the path: a worktree has its objects in the main repository. The path may be relative to `folder`.
    const own = (await expect(run, ['rev-parse', '--git-path', 'objects'], {})).toString().replace(/\n$/, '')
    const variables = {
      GIT_INDEX_FILE: join(work, 'index'),
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: resolve(folder, own),
      GIT_LITERAL_PATHSPECS: '0',
    }
    const paths = ['--', '.', ...pathspecsOf(excludes), ...(await submodulesIn(run, tree))]
    await expect(run, ['read-tree', tree], variables)
    await expect(run, ['add', '--all', ...paths], variables)
    const diff = ['diff', '--binary', '--cached', '--no-ext-diff', '--no-textconv', '--no-color', tree, ...paths]
    return await expect(run, diff, variables)
  } finally {
    await removeTree(work)
  }
}

/**
 * Returns pathspecs that leave out the submodules of a tree. In a submodule, git would use the submodule's
 * configuration, which can name programs to start.
 */
async function submodulesIn(run: RunGit, tree: string): Promise<readonly string[]> {
  const entries = (await expect(run, ['ls-tree', '-r', '-z', '--full-tree', tree], {})).toString().split('\0')
  return entries.flatMap((entry) => {
    const [, path] = /^160000 commit [0-9a-f]+\t(.*)$/s.exec(entry) ?? []
    return path === undefined ? [] : [`:(top,literal,exclude)${path}`]
  })
}

async function expect(
  run: RunGit, args: readonly string[], variables: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const { code, stdout } = await run(args, { variables })
  if (code !== 0) throw new AppError('bad_request', `Could not make the patch: git failed with exit code ${code}`)
  return stdout
}

interface ListOptions {
  readonly excludes: readonly string[]
  readonly signal: AbortSignal
}

interface ArchiveOptions extends ListOptions {
  readonly found: readonly Found[]
}

async function* archiveOf(machine: Machine, folder: string, options: ArchiveOptions): AsyncGenerator<Buffer, void> {
  const gzip = createGzip()
  // A failure destroys `gzip` with its error, and the loop below throws that error.
  pipeline(writeTar(entriesOf(machine, folder, options)), gzip, () => undefined)
  try {
    for await (const piece of gzip) if (Buffer.isBuffer(piece)) yield piece
  } finally {
    gzip.destroy()
  }
}

async function* entriesOf(
  machine: Machine, folder: string, { found, excludes, signal }: ArchiveOptions,
): AsyncGenerator<TarEntry, void> {
  const top = basename(folder)
  let count = 0
  let bytes = 0
  for (const { path, isFolder, isExecutable } of found) {
    signal.throwIfAborted()
    if (isFolder) yield { name: `${top}/${path}/`, size: 0, isExecutable: false, content: none }
    else {
      const file = await openListed(machine, join(folder, path))
      if (file === undefined) continue
      try {
        const { size } = await file.stat()
        yield { name: `${top}/${path}`, size, isExecutable, content: contentOf(file) }
        count++
        bytes += size
      } finally {
        await file.close()
      }
    }
  }
  if (found.some(({ path }) => path === manifestName)) return
  const words = { format: 'tar.gz', source: top, file_count: count, total_bytes: bytes, excludes }
  const manifest = Buffer.from(JSON.stringify(words, undefined, 2))
  yield { name: `${top}/${manifestName}`, size: manifest.length, isExecutable: false, content: one(manifest) }
}

const manifestName = 'archive_manifest.json'

interface Found {
  readonly path: string
  readonly isFolder: boolean
  readonly isExecutable: boolean
}

/** Lists the files and folders to send. @throws AppError `bad_request` if `walkTree` reports an incomplete walk */
async function listFiles(
  machine: Machine, folder: string, { excludes, signal }: ListOptions,
): Promise<readonly Found[]> {
  const found: Found[] = []
  const { isComplete } = await machine.at(folder, (place) => walkTree(place, {
    signal,
    limitEntries: entryLimit,
    notEntered: new Set(), // `visit` leaves out `.git` and excluded paths.
    async visit({ name, relativePath, place: { kind, directory } }) {
      const isFolder = kind === 'directory'
      if (kind === 'special' || name === '.git' || isExcluded(relativePath, isFolder, excludes)) return false
      const mode = isFolder ? 0n : ((await directory.lstat(name))?.mode ?? 0n)
      found.push({ path: relativePath, isFolder, isExecutable: (mode & 0o100n) !== 0n })
      return true
    },
  }))
  if (isComplete) return found
  throw new AppError(
    'bad_request', `The archive would lack files: the folder has more than ${entryLimit} files and folders, or a ` +
      'folder that is too deep or cannot be read. Leave such folders out with exclude',
  )
}

/** Opens a listed file; undefined when the file was removed. @throws AppError for a file that cannot be read */
async function openListed(machine: Machine, path: string): Promise<FileHandle | undefined> {
  return machine.at(path, openFile).catch(undefinedIfMissing)
}

async function* contentOf(file: FileHandle): AsyncGenerator<Buffer, void> {
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(pieceBytes), position })
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes
}

const none: AsyncIterable<Buffer> = {
  async *[Symbol.asyncIterator]() { /* empty */ },
}
