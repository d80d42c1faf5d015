/** The commands `agent-server backup` and `agent-server restore`: their arguments and their output. */
import { AppError } from '../../base/errors.ts'
import { failsAsStorage } from '../../base/own-files.ts'
import { openForReading, stat } from '../../base/read-files.ts'
import { assertNoWords } from '../../option.ts'
import type { CommandCall } from '../../part.ts'
import { assertDataFolder } from '../../storage/data-folder-claim.ts'
import { backUp, type BackupOptions, type BackupReport } from './backup.ts'
import { readManifest, withBackupFolder, withStoredBackup } from './backup-folder.ts'
import { installedAgents, orMissing } from './contents.ts'
import { noteBackup } from './last-backup.ts'
import { damaged, type Manifest } from './manifest.ts'
import { checkPieces, formatIn, restore } from './restore.ts'
import { RestoreFolder } from './restore-folder.ts'
import { stageTar } from './staged.ts'
import { TarTarget } from './tar.ts'
import { bytesOf } from './target.ts'
import { parsePathMap, type Moved, type PathMap } from './workspace-map.ts'

/**
 * Runs `backup`. Returns exit code 0. @throws AppError `invalid_option`, `not_found`; the errors of `withBackupFolder`
 * and `backUp`
 */
export async function runBackup(call: CommandCall): Promise<number> {
  const { config, words, flags, output, signal } = call
  const [to, ...more] = words
  if (to === undefined || to === '') throw refused('backup', 'expected a folder, or - for a tar archive')
  assertNoWords('backup', more)
  const { dataDir } = config
  await assertDataFolder(dataDir)
  const withKeys = flags['without-keys'] !== 'true'
  const common = { dataDir, withKeys, clock: Date.now, signal } satisfies Partial<BackupOptions>
  const report = to === '-'
    ? await backUp({ ...common, target: new TarTarget(output), previous: undefined })
    : await withBackupFolder(to, dataDir, async (target) => {
      const previous = await readManifest(target.path).catch((thrown: unknown) => {
        if (!(thrown instanceof AppError) || thrown.code !== 'storage_failed') throw thrown
        call.tell(`${thrown.message}. Everything is copied again\n`)
        return undefined
      })
      return backUp({ ...common, target, previous })
    })
  const unnoted = await noteBackup(dataDir, { made: report.made, to })
  await tellBackup(call, { report, to, withKeys, unnoted })
  return 0
}

interface Told {
  readonly report: BackupReport
  readonly to: string
  readonly withKeys: boolean
  /** Why the data folder has no record of this backup; undefined when it has a record. */
  readonly unnoted: string | undefined
}

async function tellBackup(call: CommandCall, { report, to, withKeys, unnoted }: Told): Promise<void> {
  const { config, flags, print, tell } = call
  const { conversations, files, bytes, copiedBytes, linkedBytes, deleted, left, seals, sha256 } = report
  const say = to === '-' ? tell : print
  const agents = await installedAgents(config.dataDir)
  if (flags['json'] === 'true') {
    const { made } = report
    say(`${JSON.stringify({
      made, manifest: sha256, conversations, files, bytes, copied_bytes: copiedBytes, linked_bytes: linkedBytes,
      deleted, left_out: left, installed_agents: agents, has_keys: withKeys, sealing_keys: seals,
      noted: unnoted === undefined,
    }, undefined, 2)}\n`)
    return
  }
  const shared = linkedBytes === 0 ? '' : `, ${linkedBytes} shared by hard links`
  say(`Backed up ${conversations} conversations, ${files} files, ${bytes} bytes: ${copiedBytes} written${shared}\n`)
  say(`Manifest ${sha256}\n`)
  if (deleted > 0) tell(`${deleted} conversations were deleted meanwhile and are not in it\n`)
  if (left.length > 0) tell(`Left out, because they are links or no regular files: ${listed(left)}\n`)
  if (agents.length > 0) tell(`Installed agents are not in it, install them again after a restore: ${listed(agents)}\n`)
  if (!withKeys) tell(withoutKeys(seals))
  if (unnoted !== undefined) tell(`The backup is not noted in the data folder and unknown to doctor: ${unnoted}\n`)
}

/**
 * Runs `restore`. Returns exit code 0. @throws AppError `invalid_option`, `not_found`, `storage_failed`; the errors of
 * `withStoredBackup`, `RestoreFolder.withFolder`, `restore` and `stageTar`
 */
export async function runRestore(call: CommandCall): Promise<number> {
  const { words, flags, given, signal } = call
  const [from, ...more] = words
  if (from === undefined || from === '') throw refused('restore', 'expected a backup: a folder, a tar file, or -')
  assertNoWords('restore', more)
  const map = parsePathMap(given['workspace-map'] ?? [])
  const to = flags['to']
  const isDry = flags['dry-run'] === 'true'
  if ((to === undefined || to === '') && !isDry) throw refused('restore', 'expected --to FOLDER')
  if (to !== undefined) await RestoreFolder.assertFree(to)
  if (isDry) return dryRun(call, from)
  const isFolder = await isFolderAt(from)
  const restored = (folder: RestoreFolder, place: string, manifest: Manifest): Promise<Moved> => {
    return restore({ from: place, isStaged: !isFolder, manifest, to: folder, map, signal })
  }
  const result = isFolder
    ? await withStoredBackup(from, (manifest) => RestoreFolder.withFolder(to ?? '', async (folder) => {
      return { manifest, moved: await restored(folder, from, manifest) }
    }))
    : await withTar(call, from, (tar) => RestoreFolder.withFolder(to ?? '', async (folder) => {
      const { manifest } = await stageTar(tar, folder.staging, signal)
      return { manifest, moved: await restored(folder, folder.staging, manifest) }
    }))
  tellRestored(call, { ...result, map, to: to ?? '' })
  return 0
}

/** Checks every digest of a backup, and restores nothing. Returns exit code 0, or throws for a damaged backup. */
async function dryRun({ signal, print, tell, input }: CommandCall, from: string): Promise<number> {
  const manifest = await isFolderAt(from)
    ? await withStoredBackup(from, async (found) => {
      await formatIn(from, found)
      await checkPieces(from, found, signal)
      return found
    })
    : await withTar({ input }, from, async (tar) => {
      const staged = await stageTar(tar, undefined, signal)
      assertAll(staged.manifest, staged.pieces)
      return staged.manifest
    })
  const { header, files } = manifest
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0)
  print(`Sound: a backup of ${header.made}, ${conversationsIn(manifest)} conversations, ${files.size} files, `)
  print(`${bytes} bytes. Nothing was written\n`)
  if (!header.hasKeys) tell(withoutKeys(header.seals))
  return 0
}

function assertAll({ files }: Manifest, stored: ReadonlyMap<string, number>): void {
  for (const { path, pieces } of files.values()) {
    if (pieces.some(({ sha256, size }) => stored.get(sha256) !== size)) {
      throw damaged(`"${path}" is damaged: a piece of it is missing or has a wrong digest`)
    }
  }
}

interface Restored {
  readonly manifest: Manifest
  readonly moved: Moved
  readonly map: PathMap
  readonly to: string
}

function tellRestored({ print, tell }: CommandCall, { manifest, moved, map, to }: Restored): void {
  const { header, files } = manifest
  print(`Restored ${conversationsIn(manifest)} conversations, ${files.size} files of ${header.made} to "${to}"\n`)
  if (map.length > 0) {
    const settings = moved.settings.length === 0 ? 'no settings' : moved.settings.join(', ')
    print(`Moved the workspaces of ${moved.conversations} conversations, and paths in ${settings}\n`)
  }
  if (!header.hasKeys) tell(withoutKeys(header.seals))
  if ([...files.keys()].some((path) => path.startsWith('named-keys/'))) {
    tell('Named keys that were revoked after the backup are valid again: compare agent-server keys list ' +
      `--data-dir ${to}, and revoke them again\n`)
  }
  tell(`Next: agent-server verify --data-dir ${to}\n`)
}

function conversationsIn({ files }: Manifest): number {
  return [...files.keys()].filter((path) => /^conversations\/[^/]+\/events\.jsonl$/.test(path)).length
}

async function isFolderAt(from: string): Promise<boolean> {
  if (from === '-') return false
  const found = await failsAsStorage(`Cannot read the backup at "${from}"`, () => orMissing(stat(from)))
  if (found === undefined) throw new AppError('not_found', `There is no backup at "${from}"`)
  return found.isDirectory()
}

/** Runs `body` with the bytes of a tar file, or of standard input. */
async function withTar<T>(
  { input }: Pick<CommandCall, 'input'>, from: string, body: (tar: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  if (from === '-') return body(input())
  const file = await failsAsStorage(`Cannot read the backup at "${from}"`, () => openForReading(from))
  try {
    return await body(bytesOf({ file, from: 0, to: (await file.stat()).size }))
  } finally {
    await file.close()
  }
}

function withoutKeys(seals: readonly string[]): string {
  const keys = seals.length === 0 ? 'their key' : `the key ${seals.join(' or ')}`
  return 'It is without keys. Secrets in settings, profiles, logins and conversations open only with ' +
    `${keys}: give it as --secret-key-file, or put keys/ back. Named keys must be added again, ` +
    'and the server makes a new session key\n'
}

/** Returns the first ten names of a list, and the number of further names. */
function listed(names: readonly string[]): string {
  const more = names.length > 10 ? ` and ${names.length - 10} more` : ''
  return `${names.slice(0, 10).join(', ')}${more}`
}

function refused(what: string, expected: string): AppError {
  return new AppError('invalid_option', `Could not run ${what}: ${expected}`)
}
