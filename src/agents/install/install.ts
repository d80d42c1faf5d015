/**
 * Installs an agent in an exact version, checks it again, and removes it.
 *
 * npm fills a folder of its own; when every digest is taken the folder gets its name, and last of all the record is
 * written, in one step, in the place of an earlier one: an installation that fails or is interrupted changes nothing.
 * What an earlier version left stays where it is, since agents may run from it; see `removeUnused`.
 */
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { isObject, parseJson } from '../../base/json.ts'
import { syncFolder } from '../../base/json-file.ts'
import type { Clock } from '../../base/stamp.ts'
import type { Environment } from '../../process/environment.ts'
import type { Provider } from '../../settings/providers.ts'
import { compareFiles } from './differences.ts'
import { digestFolder } from './digests.ts'
import { changeAgents, newPrefix, removeHalfMade } from './folder.ts'
import { runNpmInstall } from './npm.ts'
import { readInstallation, recordPath, writeInstallation, type Difference, type Installation } from './record.ts'

export interface InstallOptions {
  /** See `folder`. */
  readonly agentsDir: string
  readonly provider: Pick<Provider, 'name' | 'packageName' | 'binary'>
  readonly version: string
  /** For npm. */
  readonly environment: Environment
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly createId: () => string
  /** Told before each step that takes long. */
  readonly report: (step: string) => void
}

/** Semantic Versioning 2.0.0: three numbers, perhaps a pre-release and a build. No range, no tag. */
const exactVersion = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

/**
 * @throws AppError `bad_request` for a version that is not exact or a provider without a package, `owned_by_another`,
 * what `runNpmInstall` throws, `storage_full`, `storage_failed`; the signal's reason.
 */
export async function installAgent(options: InstallOptions): Promise<Installation> {
  const { agentsDir, provider, version, clock, createId } = options
  const { name, packageName } = provider
  if (packageName === '') throw new AppError('bad_request', `Cannot install "${name}": the provider table names no package for it`)
  if (!exactVersion.test(version)) {
    throw new AppError('bad_request', `Cannot install version "${version}" of "${name}": expected an exact one such as 1.2.3`)
  }
  return changeAgents(agentsDir, clock, async () => {
    await removeHalfMade(agentsDir)
    const id = createId()
    const half = join(agentsDir, `${newPrefix}${id}`)
    await mkdir(half, { mode: 0o700 })
    try {
      const installation = await fill(half, id, options)
      await rename(half, join(agentsDir, installation.folder))
      await syncFolder(agentsDir)
      await writeInstallation(agentsDir, installation)
      return installation
    } finally {
      await rm(half, { recursive: true, force: true })
    }
  })
}

async function fill(folder: string, id: string, options: InstallOptions): Promise<Installation> {
  const { provider, version, environment, signal, clock, report } = options
  const { name, packageName } = provider
  report(`installing ${packageName}@${version} with npm`)
  await runNpmInstall({ folder, packageName, version, environment, signal, id })
  const entry = await findEntry(folder, provider, version)
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
 * Takes every digest. When all are right, the executables may be other files than before (after a restored backup,
 * say): the record then notes what they are now. When not, it notes that, and nothing starts the agent. Undefined when no such agent is installed.
 * @throws AppError `owned_by_another`, `storage_full`, `storage_failed`; the signal's reason.
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

/** Takes the record away; the files go with `removeUnused`. False when no such agent is installed. */
export async function removeAgent(agentsDir: string, name: string, clock: Clock): Promise<boolean> {
  return changeAgents(agentsDir, clock, async () => {
    // Not read before: a damaged record must be removable too.
    const path = recordPath(agentsDir, name)
    if (!existsSync(path)) return false
    await rm(path)
    await syncFolder(agentsDir)
    return true
  })
}

/** The file that the package names as its program. */
async function findEntry(folder: string, { name, packageName, binary }: InstallOptions['provider'], version: string): Promise<string> {
  const inside = posix.join('node_modules', packageName)
  const manifest = parseJson(await readFile(join(folder, inside, 'package.json'), 'utf8'))
  const { version: found, bin } = isObject(manifest) ? manifest : {}
  if (found !== version) {
    throw new AppError('upstream_failed', `Could not install "${name}": npm brought version ${JSON.stringify(found)}, expected "${version}"`)
  }
  const program = isObject(bin) ? bin[binary] : bin
  const entry = typeof program === 'string' ? posix.join(inside, program) : ''
  if (entry.startsWith(`${inside}/`)) return entry
  throw new AppError('upstream_failed', `Could not install "${name}": the package has no program "${binary}"`)
}

/** True for what Node runs: by its name, or by its first line. */
async function isScript(path: string): Promise<boolean> {
  if (/\.[cm]?js$/.test(path)) return true
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(80), 0, 80, 0)
    return /^#!.*\bnode\b/.test(buffer.toString('latin1', 0, bytesRead))
  } finally {
    await handle.close()
  }
}
