/**
 * Installs skills and plugins: copies the source into a work folder, checks the copy, and moves the copy to the
 * installed skills or plugins (`shelf.ts`).
 *
 * The source is read once, so the checked files are the installed files.
 */
import { basename, join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { storageError } from '../../base/own-files.ts'
import { readdir } from '../../base/read-files.ts'
import type { Log } from '../../base/log.ts'
import { formatMicros, type Clock } from '../../base/stamp.ts'
import { Limiter } from '../../base/limiter.ts'
import { openFile } from '../workspace-files/files.ts'
import type { Machine } from '../workspace-files/machine.ts'
import type { ExtensionRecord } from './generated.ts'
import { parseFrontMatter } from '../skills/front-matter.ts'
import { parseSkill } from '../skills/skill.ts'
import { readText } from '../skills/skill-files.ts'
import { readArchive } from './archive/open-archive.ts'
import { unpack } from './archive/unpack.ts'
import type { Entry } from './archive/entry.ts'
import { folderEntries, isFolder } from './folder-entries.ts'
import { fetchCommit, type GitSourceOptions } from './git-source.ts'
import { hasPrograms, readPlugin } from './plugin.ts'
import { isName, makeWorkFolder, removeWorkFolder, type ExtensionKind, type Installed, type Shelf } from './shelf.ts'
import { readSource, type LocalSource, type Source, type SourceRequest } from './source.ts'

const fetchLimit = 2

export interface InstallerOptions {
  /** The folder `extensions` of the data folder. */
  readonly root: string
  readonly shelves: Readonly<Record<ExtensionKind, Shelf>>
  readonly machine: Machine
  readonly git: GitSourceOptions
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

export interface Installer {
  /**
   * Installs an extension. With `force` it replaces an installed extension of the same name.
   * @throws AppError `invalid_input` for an unusable source or extension; `bad_request`, `forbidden`, `not_found` when
   * the source cannot be read; `storage_full`, `storage_failed`; the errors of `Shelf.put`
   */
  install(kind: ExtensionKind, request: InstallRequest): Promise<Installed>
}

export interface InstallRequest extends SourceRequest {
  readonly force: boolean
  /** The name that a refreshed extension must have; undefined for an installation, which may have any name. */
  readonly expectedName?: string
  readonly signal: AbortSignal
}

export function createInstaller(options: InstallerOptions): Installer {
  const limiter = new Limiter(fetchLimit)
  return {
    async install(kind, request) {
      const source = readSource(request)
      const work = await makeWorkFolder(options.root)
      try {
        const fetched = await limiter.run(() => fetchSource(source, work, request.signal, options))
        const found = await (kind === 'skills' ? describeSkill : describePlugin)(fetched, options)
        assertName(found.name, request.expectedName)
        const record: ExtensionRecord = {
          ...found,
          source: request.source,
          ref: request.ref ?? null,
          repo_path: request.repo_path ?? null,
          resolved_ref: fetched.commit,
          installed_at: formatMicros(Math.floor(options.clock() * 1000)),
        }
        return await options.shelves[kind].put(record, fetched.folder, { replaces: request.force })
      } catch (thrown) {
        throw thrown instanceof AppError ? thrown : storageError('Cannot install', thrown)
      } finally {
        await removeWorkFolder(work)
      }
    },
  }
}

interface Fetched {
  /** The folder with the files of the extension. */
  readonly folder: string
  /** The id of the fetched commit of a git repository; null for other sources. */
  readonly commit: string | null
  /** The name for a skill whose SKILL.md gives no name, and for a plugin without a manifest. */
  readonly usualName: string
}

async function fetchSource(
  source: Source, work: string, signal: AbortSignal, options: InstallerOptions,
): Promise<Fetched> {
  const files = await makeWorkFolder(work)
  const name = basename(source.below === '' ? (source.type === 'git' ? source.url : source.path) : source.below)
  if (source.type === 'git') {
    if (!source.url.startsWith('https:')) await assertFolder(options.machine, source.url)
    const { environment, instanceId, cgroupParent } = options.git
    const { commit, entries } = await fetchCommit(source, work, { environment, instanceId, cgroupParent, signal })
    await unpack(entries, files, signal)
    return { folder: files, commit, usualName: usualNameOf(name) }
  }
  if (await isFolder(options.machine, source.path)) {
    const path = source.below === '' ? source.path : join(source.path, source.below)
    await unpack(folderEntries(options.machine, path, signal), files, signal)
    return { folder: files, commit: null, usualName: usualNameOf(name) }
  }
  await unpack(archiveEntries(options.machine, source), files, signal)
  const top = await onlyFolderIn(files)
  const folder = join(files, top ?? '', source.below)
  if (source.below !== '') await assertThere(folder, source.below)
  return { folder, commit: null, usualName: usualNameOf(source.below === '' ? (top ?? name) : name) }
}

/** Yields the entries of an archive on this machine. Closes the file at the end, or when the consumer stops. */
async function* archiveEntries(machine: Machine, { path }: LocalSource): AsyncGenerator<Entry, void> {
  const file = await machine.at(path, openFile)
  try {
    const { size } = await file.stat()
    yield* readArchive({
      size,
      async read(position, length) {
        const buffer = Buffer.allocUnsafe(length)
        let filled = 0
        while (filled < length) {
          const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled)
          if (bytesRead === 0) break
          filled += bytesRead
        }
        return buffer.subarray(0, filled)
      },
    })
  } finally {
    await file.close()
  }
}

/** Matches names of entries that an extension has in its top folder. */
const topNames = /^(?:\..*|agents|commands|hooks|skills)$/
/** A folder with one of these entries is an extension. */
const marks = ['SKILL.md', '.plugin', '.claude-plugin']

/**
 * Returns the name of the only entry in `folder` if that entry is the folder of the extension. Otherwise returns
 * undefined, also for a folder that matches `topNames` and has none of `marks`.
 */
async function onlyFolderIn(folder: string): Promise<string | undefined> {
  const entries = await readdir(folder, { withFileTypes: true })
  const [first] = entries
  if (entries.length !== 1 || first === undefined || !first.isDirectory()) return undefined
  if (!topNames.test(first.name)) return first.name
  const inside = await readdir(join(folder, first.name))
  return inside.some((name) => marks.includes(name)) ? first.name : undefined
}

async function assertThere(folder: string, below: string): Promise<void> {
  await readdir(folder).catch(() => {
    throw new AppError('bad_request', `Cannot find the folder "${below}" in the source`)
  })
}

async function assertFolder(machine: Machine, path: string): Promise<void> {
  if (!await isFolder(machine, path)) throw new AppError('bad_request', 'Cannot fetch the source: it is no folder')
}

type Described = Pick<ExtensionRecord, 'name' | 'version' | 'description' | 'enabled'>

async function describeSkill({ folder, usualName }: Fetched, { log }: InstallerOptions): Promise<Described> {
  const warn = (reason: string): void => log.warn('A skill cannot be read', { reason })
  const text = await readText('SKILL.md', { folder, privateDirs: [], warn })
  if (text === undefined) throw new AppError('invalid_input', 'Cannot use the skill: expected a readable SKILL.md')
  const { name, description = '' } = parseSkill({ path: 'SKILL.md', text, name: usualName, isAgentSkill: true })
  const version = parseFrontMatter(text).text('version') ?? ''
  return { name, version, description, enabled: true }
}

/**
 * Describes a fetched plugin. It is disabled if it has hooks or MCP servers, but `Shelf.put` keeps the `enabled` of a
 * plugin that it replaces.
 */
async function describePlugin({ folder, usualName }: Fetched, { log }: InstallerOptions): Promise<Described> {
  const warn = (reason: string): void => log.warn('A file of a plugin is left out', { reason })
  const plugin = await readPlugin({ folder, privateDirs: [], warn }, usualName)
  const { name, version, description } = plugin
  return { name, version, description, enabled: !hasPrograms(plugin) }
}

function assertName(name: string, expected: string | undefined): void {
  if (!isName(name)) {
    const form = 'expected a name of at most 64 lower-case letters, digits and single hyphens'
    throw new AppError('invalid_input', `Cannot install ${JSON.stringify(name.slice(0, 100))}: ${form}`)
  }
  if (expected === undefined || name === expected) return
  throw new AppError('invalid_input', `Cannot refresh "${expected}": its source is "${name}" now`)
}

function usualNameOf(name: string): string {
  return name.toLowerCase().replace(/\.(?:git|zip|tar|tgz|tar\.gz)$/, '')
}
