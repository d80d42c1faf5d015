/**
 * Turns a path into a `ContainedPath`: an open directory inside the workspace and a name in it.
 *
 * The path is walked name by name from the workspace's directory, through open directories (directory-handle). A link
 * is followed only if it stays in the workspace. So on Linux there is no gap between check and use (for other systems,
 * see decisions 30). The server's own data directories are refused.
 */
import { type BigIntStats } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { AppError, systemCodeOf } from '../../base/errors.ts'
import { realpath, stat } from '../../base/read-files.ts'
import { DirectoryHandle, identityOf, type DirectoryRules } from './directory-handle.ts'
import { isGitName, isRepository, RepositoryPlace } from './repository.ts'

/** The most links that a walk follows, as in Linux (path_resolution(7)). */
const linkLimit = 40
/** The most bytes of a path or a link's target (PATH_MAX). `depthLimit`: the most directories that a walk goes down. */
const pathLimitBytes = 4096
const depthLimit = 200

export interface WorkspaceOptions {
  readonly workingDir: string
  /** The server's own folders, which are refused with everything in them. */
  readonly privateDirs: readonly string[]
  /** True when the system has /proc/self/fd. Default: true on Linux. */
  readonly byDescriptor?: boolean
}

/** A workspace as the file tools see it. It keeps no file or directory open between calls. */
export interface Workspace {
  /** `WorkspaceOptions.workingDir`, made absolute. Links in it are not resolved. */
  readonly workingDir: string
  /**
   * Calls `use` with the `ContainedPath` of a path. The directories are open until `use` has settled.
   * @throws AppError `invalid_input` for a path that may not be used, `not_found` for a missing workspace or parent
   * directory, `storage_full`; the errors of `use`
   */
  at<T>(path: string, use: (place: ContainedPath) => Promise<T>, options?: PlaceOptions): Promise<T>
  /** True for a path that git may take for configuration or code; false for any other path. Never rejects. */
  isInRepository(path: string): Promise<boolean>
}

export interface PlaceOptions {
  /** Creates the missing parent directories of the path. If `at` rejects, it removes those of them that are empty. */
  readonly makeParents?: boolean
  /** Refuses a path that git may take for configuration or code (repository.ts), before anything is created. */
  readonly refusesRepositories?: boolean
}

export type PlaceKind = 'file' | 'directory' | 'nothing' | 'special'

interface Place {
  /** The path for messages to people and models: absolute, with the links below the workspace resolved. */
  readonly path: string
  readonly kind: PlaceKind
  readonly directory: DirectoryHandle
  /** Name in the directory; `.` for the directory itself. */
  readonly name: string
}

/** A path inside the workspace with its open directory, valid until the `use` of `Workspace.at` has settled. */
class ContainedPath implements Place {
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
  }

  get path(): string {
    return this.#place.path
  }

  get kind(): PlaceKind {
    return this.#place.kind
  }

  get directory(): DirectoryHandle {
    return this.#place.directory
  }

  get name(): string {
    return this.#place.name
  }

  /** Returns the `ContainedPath` of an entry that a walk of this directory has found. */
  below(relativePath: string, directory: DirectoryHandle, kind: PlaceKind): ContainedPath {
    return new ContainedPath({ path: join(this.path, relativePath), kind, directory, name: basename(relativePath) })
  }
}
export type { ContainedPath }

export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { byDescriptor = process.platform === 'linux', privateDirs } = options
  const workingDir = resolve(options.workingDir)
  let root: Promise<string> | undefined
  void findRoot().catch(() => undefined) // `at` tries again, and throws if that fails too.
  return { workingDir, at, isInRepository }

  async function isInRepository(path: string): Promise<boolean> {
    return at(path, async () => false, { refusesRepositories: true }).catch((thrown: unknown) => {
      return thrown instanceof RepositoryPlace
    })
  }

  async function at<T>(path: string, use: (place: ContainedPath) => Promise<T>, place: PlaceOptions = {}): Promise<T> {
    const walk: Walk = {
      given: path,
      roots: [workingDir, await findRoot()].map(partsOf),
      workingDir,
      makeParents: place.makeParents === true,
      refusesRepositories: place.refusesRepositories === true,
      stack: [],
      names: [],
      made: [],
      pending: [],
      links: 0,
    }
    try {
      return await use(await walkTo(walk, { byDescriptor, refused: await identitiesOf(privateDirs) }))
    } catch (thrown) {
      for (const { parent, name } of walk.made.reverse()) await parent.rmdir(name)
      throw thrown
    } finally {
      for (const directory of walk.stack) await directory.close()
    }
  }

  function findRoot(): Promise<string> {
    root ??= realpath(workingDir).catch(() => {
      root = undefined
      throw new AppError('not_found', `Cannot find the workspace "${workingDir}"`)
    })
    return root
  }
}

interface Walk {
  readonly given: string
  /** The components of `workingDir`, and of its real path. An absolute path must begin with one of the two lists. */
  readonly roots: readonly (readonly string[])[]
  readonly workingDir: string
  readonly makeParents: boolean
  readonly refusesRepositories: boolean
  /** The open directories, from the workspace to the current directory. `names`: their names, without the first. */
  readonly stack: DirectoryHandle[]
  readonly names: string[]
  /** The directories that this walk made. If the walk or `use` fails, the empty directories among them are removed. */
  readonly made: { readonly parent: DirectoryHandle; readonly name: string }[]
  /** The names that are still to be walked. */
  pending: string[]
  links: number
}

async function walkTo(walk: Walk, rules: DirectoryRules): Promise<ContainedPath> {
  const { given } = walk
  walk.pending = partsInside(walk, given)
  try {
    // Opens the workspace's real path. Throws if a link has meanwhile replaced one of the directories in this path.
    walk.stack.push(await DirectoryHandle.openPath(`/${(walk.roots.at(-1) ?? []).join('/')}`, rules))
    const place = await walkOn(walk)
    if (/\/\.?$/.test(given) && place.kind !== 'directory') throw refused(given, 'it is not a directory')
    return place
  } catch (thrown) {
    throw pathError(given, thrown)
  }
}

async function walkOn(walk: Walk): Promise<ContainedPath> {
  for (let name = walk.pending.shift(); name !== undefined; name = walk.pending.shift()) {
    if (name === '..') {
      await leave(walk)
      continue
    }
    const here = current(walk)
    const stats = await here.lstat(name)
    if (walk.refusesRepositories && !stats?.isSymbolicLink()) await assertNoRepository(walk, name, stats === undefined)
    if (stats?.isSymbolicLink()) await follow(walk, name)
    else if (stats?.isDirectory()) await enter(walk, name)
    else if (walk.pending.length === 0) return placeOf(walk, name, kindOf(stats))
    else if (stats !== undefined) throw refused(walk.given, 'a part of it is not a directory')
    else if (!walk.makeParents) throw new AppError('not_found', `Cannot find "${shown(walk.given)}"`)
    else {
      // A missing name is no link, so a `..` behind it cancels it. Nothing is made for cancelled names.
      const rest = afterReturn(walk.pending)
      if (rest !== undefined) walk.pending = rest
      else {
        if (await here.mkdir(name)) walk.made.push({ parent: here, name })
        await enter(walk, name)
      }
    }
  }
  return placeOf(walk, '.', 'directory')
}

/** Returns the names after the `..` that leads back out of a directory; undefined if `names` do not leave it. */
function afterReturn(names: readonly string[]): string[] | undefined {
  let depth = 1
  for (const [index, name] of names.entries()) {
    depth += name === '..' ? -1 : 1
    if (depth === 0) return names.slice(index + 1)
  }
  return undefined
}

/**
 * Refuses a name that git may take for configuration or code. If there is no entry of this name, also checks the names
 * that follow it in the path, before a directory is made for any of them.
 */
async function assertNoRepository(walk: Walk, name: string, isMissing: boolean): Promise<void> {
  const names = isMissing ? [name, ...walk.pending] : [name]
  if (names.some(isGitName) || (await isRepository(current(walk), name))) throw new RepositoryPlace(shown(walk.given))
}

async function enter(walk: Walk, name: string): Promise<void> {
  if (walk.stack.length > depthLimit) throw refused(walk.given, `it goes deeper than ${depthLimit} directories`)
  walk.stack.push(await current(walk).enter(name))
  walk.names.push(name)
}

async function leave(walk: Walk): Promise<void> {
  if (walk.stack.length === 1) throw outside(walk)
  walk.names.pop()
  await walk.stack.pop()?.close()
}

async function follow(walk: Walk, name: string): Promise<void> {
  if (++walk.links > linkLimit) throw refused(walk.given, `it goes through more than ${linkLimit} links`)
  const target = await current(walk).readlink(name)
  const parts = partsInside(walk, target)
  if (target.startsWith('/')) while (walk.stack.length > 1) await leave(walk)
  walk.pending.unshift(...parts)
}

function current(walk: Walk): DirectoryHandle {
  const directory = walk.stack.at(-1)
  if (directory === undefined) throw new TypeError('A walk has to begin at its root')
  return directory
}

function placeOf(walk: Walk, name: string, kind: PlaceKind): ContainedPath {
  return new ContainedPath({ path: join(walk.workingDir, ...walk.names, name), kind, directory: current(walk), name })
}

/** Returns the names to walk: from the walk's current directory, or from the workspace if the path is absolute. */
function partsInside(walk: Walk, path: string): string[] {
  if (path === '') throw refused(walk.given, 'it is empty')
  if (path.includes('\0')) throw refused(path.replaceAll('\0', '\\0'), 'it holds a NUL character')
  if (Buffer.byteLength(path) > pathLimitBytes) throw refused(path, `it is longer than ${pathLimitBytes} bytes`)
  const parts = partsOf(path)
  if (!path.startsWith('/')) return parts
  const root = walk.roots.find((candidate) => candidate.every((part, index) => part === parts[index]))
  if (root === undefined) throw outside(walk)
  return parts.slice(root.length)
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

function kindOf(stats: BigIntStats | undefined): PlaceKind {
  if (stats === undefined) return 'nothing'
  return stats.isFile() ? 'file' : 'special'
}

async function identitiesOf(paths: readonly string[]): Promise<ReadonlySet<string>> {
  // A folder that is missing or cannot be examined is left out.
  const found = await Promise.all(paths.map((path) => stat(path, { bigint: true }).then(identityOf, () => undefined)))
  return new Set(found.filter((identity) => identity !== undefined))
}

function outside({ given, workingDir }: Walk): AppError {
  return refused(given, `it is outside the workspace "${workingDir}"`)
}

function refused(path: string, why: string): AppError {
  return new AppError('invalid_input', `Cannot use the path "${shown(path)}": ${why}`)
}

function shown(path: string): string {
  return path.length > 300 ? `${path.slice(0, 300)}...` : path
}

/** Converts a system error to an AppError that names the path. Returns any other error unchanged. */
export function pathError(path: string, thrown: unknown): unknown {
  const code = systemCodeOf(thrown)
  if (thrown instanceof AppError || code === undefined) return thrown
  if (code === 'ENOENT') return new AppError('not_found', `Cannot find "${shown(path)}"`, { cause: thrown })
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AppError('storage_full', `Cannot write "${shown(path)}": the disk is full`, { cause: thrown })
  }
  const reason = reasons[code] ?? code
  return new AppError('invalid_input', `Cannot use the path "${shown(path)}": ${reason}`, { cause: thrown })
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'a name in it is too long',
  ENOTDIR: 'a part of it is not a directory',
  EISDIR: 'it is a directory',
  ELOOP: 'a part of it was exchanged for a link while it was used',
  EPRIVATE: "it holds the server's own data",
  EMFILE: 'too many files are open',
  ENXIO: 'it is not a regular file',
}
