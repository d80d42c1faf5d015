/**
 * Installs an agent in an exact version; verifies and removes installed agents.
 *
 * npm installs into a new folder, and the record is written last. So a failed installation changes no installed agent.
 * The files of an earlier version stay until `removeUnused` is called.
 */
import { join, posix } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { isObject, parseJson } from '../../base/json.ts'
import { makeNewFolder, removeFile, removeTree, rename, syncFolder } from '../../base/own-files.ts'
import { existsSync, openForReading, readFile } from '../../base/read-files.ts'
import type { Clock } from '../../base/stamp.ts'
import type { Environment } from '../../process/environment.ts'
import type { Provider } from '../../settings/providers.ts'
import { compareFiles } from './differences.ts'
import { digestFolder } from './digests.ts'
import { changeAgents, newPrefix, removeHalfMade } from './folder.ts'
import { findLock, shippedLocks, type Locks } from './lock.ts'
import { installInstance, runNpmInstall, sweepInstalls } from './npm.ts'
import { readInstallation, recordPath, writeInstallation, type Difference, type Installation } from './record.ts'

export interface InstallOptions {
  /** The folder of installed agents (`folder.ts`). */
  readonly agentsDir: string
  readonly provider: Pick<Provider, 'name' | 'packageName' | 'binary' | 'programs' | 'installCommand'>
  readonly version: string
  /** The environment from which npm gets its variables (`NpmOptions`). */
  readonly environment: Environment
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly createId: () => string
  /** Called with a description of each long step, before the step. */
  readonly report: (step: string) => void
  /** The package locks (`lock.ts`). Default: the locks of this release. */
  readonly locks?: Locks
  /** The platform that selects the lock and the program, such as `linux-x64`. Default: the platform of this process. */
  readonly platform?: string
}

/** An exact version (Semantic Versioning 2.0.0). */
const exactVersion = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

/**
 * Installs an agent and returns its record.
 * @throws AppError `bad_request` for a version that is not exact or a provider without a package; the errors of
 * `changeAgents`, `sweepInstalls`, `runNpmInstall`, `findEntry`, `digestFolder` and `writeInstallation`
 */
export async function installAgent(options: InstallOptions): Promise<Installation> {
  const { agentsDir, provider, version, clock, createId } = options
  const { name, packageName } = provider
  if (packageName === '') {
    throw new AppError('bad_request', `Cannot install "${name}": ${reasonWithoutPackage(provider)}`)
  }
  if (!exactVersion.test(version)) {
    throw new AppError(
      'bad_request', `Cannot install version "${version}" of "${name}": expected an exact one such as 1.2.3`,
    )
  }
  return changeAgents(agentsDir, clock, async () => {
    // Processes of a killed installation may still write into its folder, which is removed next.
    await sweepInstalls(installInstance(agentsDir))
    await removeHalfMade(agentsDir)
    const id = createId()
    const half = join(agentsDir, `${newPrefix}${id}`)
    await makeNewFolder(half)
    try {
      const installation = await fill(half, id, options)
      await rename(half, join(agentsDir, installation.folder))
      await syncFolder(agentsDir)
      await writeInstallation(agentsDir, installation)
      return installation
    } finally {
      await removeTree(half)
    }
  })
}

async function fill(folder: string, id: string, options: InstallOptions): Promise<Installation> {
  const { agentsDir, provider, version, environment, signal, clock, report } = options
  const { locks = shippedLocks, platform = `${process.platform}-${process.arch}` } = options
  const { name, packageName } = provider
  const lock = await findLock(locks, { name, packageName, version, platform })
  const pinned =
    lock === undefined ? 'its dependencies are not locked for this version and platform' : 'all packages locked'
  report(`installing ${packageName}@${version} with npm, ${pinned}`)
  await runNpmInstall({
    folder,
    packageName,
    version,
    lock,
    environment,
    signal,
    instance: installInstance(agentsDir),
    id,
  })
  const entry = await findEntry(folder, provider, { version, platform })
  report('taking the digests of its files')
  const files = await digestFolder(folder, { signal, entry })
  const runsOnNode = await isScript(join(folder, entry))
  const now = new Date(clock()).toISOString()
  return {
    name,
    packageName,
    version,
    folder: `${name}@${version}-${id}`,
    entry,
    runsOnNode,
    nodeVersion: process.version,
    installedAt: now,
    verifiedAt: now,
    files,
  }
}

/**
 * Compares every file of an agent with its digest in the record. Returns the differences; undefined when the agent is
 * not installed. The record gets new stamps if there is no difference, else the first difference as `doubt`.
 * @throws AppError `storage_full`, `storage_failed`; the errors of `changeAgents` and `compareFiles`
 */
export async function verifyAgent(
  agentsDir: string,
  name: string,
  options: { readonly signal: AbortSignal, readonly clock: Clock },
): Promise<readonly Difference[] | undefined> {
  return changeAgents(agentsDir, options.clock, async () => {
    const installation = await readInstallation(agentsDir, name)
    if (installation === undefined) return undefined
    const { differences, files } = await compareFiles(agentsDir, installation, options)
    const { doubt: _, ...record } = installation
    const [doubt] = differences
    const verified = { ...record, files, verifiedAt: new Date(options.clock()).toISOString() }
    await writeInstallation(agentsDir, doubt === undefined ? verified : { ...record, doubt })
    return differences
  })
}

/** Removes the record; `removeUnused` removes the files later. Returns false when the agent is not installed. */
export async function removeAgent(agentsDir: string, name: string, clock: Clock): Promise<boolean> {
  return changeAgents(agentsDir, clock, async () => {
    // The record is not read first: a damaged record must be removable too.
    const path = recordPath(agentsDir, name)
    if (!existsSync(path)) return false
    await removeFile(path)
    await syncFolder(agentsDir)
    return true
  })
}

function reasonWithoutPackage({ installCommand }: InstallOptions['provider']): string {
  if (installCommand === '') return 'the provider table names no package for it'
  return `it is no npm package; install it with "${installCommand}", and it is found on the PATH`
}

/**
 * Returns the path of the agent's program in `folder`: the path in the provider table for `wanted.platform`, else the
 * path in `bin` of the package. In the second case a package with an install script is refused, because npm runs no
 * scripts here.
 * @throws AppError `upstream_failed` for another version than `wanted.version`, a refused script, or no program
 */
async function findEntry(
  folder: string, provider: InstallOptions['provider'], wanted: { version: string; platform: string },
): Promise<string> {
  const { name, packageName, binary, programs } = provider
  const inside = posix.join('node_modules', packageName)
  const manifest = parseJson(await readFile(join(folder, inside, 'package.json'), 'utf8'))
  const { version: found, bin, scripts } = isObject(manifest) ? manifest : {}
  const refusal = (problem: string): AppError =>
    new AppError('upstream_failed', `Could not install "${name}": ${problem}`)
  if (found !== wanted.version) {
    throw refusal(`npm installed version ${JSON.stringify(found)}, expected "${wanted.version}"`)
  }
  const own = programs[wanted.platform]
  if (own !== undefined) {
    const entry = posix.join('node_modules', own)
    if (existsSync(join(folder, entry))) return entry
    throw refusal(`the package has no program for ${wanted.platform}, expected "${own}"`)
  }
  const script = isObject(scripts) ? installScripts.find((one) => typeof scripts[one] === 'string') : undefined
  if (script !== undefined) {
    throw refusal(
      `its package runs a script at installation ("${script}"), and no scripts are run here; install it with npm ` +
      'yourself',
    )
  }
  const program = isObject(bin) ? bin[binary] : bin
  const entry = typeof program === 'string' ? posix.join(inside, program) : ''
  if (entry.startsWith(`${inside}/`) && existsSync(join(folder, entry))) return entry
  throw refusal(`the package has no program "${binary}"`)
}

/** The scripts that npm runs when it installs a package as a dependency. */
const installScripts = ['preinstall', 'install', 'postinstall'] as const

/** True for a file that Node runs as a script, by its extension or its first line. */
async function isScript(path: string): Promise<boolean> {
  if (/\.[cm]?js$/.test(path)) return true
  const handle = await openForReading(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(80), 0, 80, 0)
    return /^#!.*\bnode\b/.test(buffer.toString('latin1', 0, bytesRead))
  } finally {
    await handle.close()
  }
}
