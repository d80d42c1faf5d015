/**
 * `agent-server agents`: lists, installs, verifies and removes the programs of agents in the data folder. `agents
 * schema` prints the JSON schema of the file for `--providers`.
 *
 * The command also works while a server uses the data folder: a change needs only the lock on the folder of agents.
 * Files that no record names are then left to the next start of a server.
 */
import { randomUUID } from 'node:crypto'
import { findDifference } from './differences.ts'
import { agentsFolderIn, changeAgents, removeUnused } from './folder.ts'
import { installAgent, removeAgent, verifyAgent } from './install.ts'
import { listInstalled, readInstallation, sizeOf } from './record.ts'
import { AppError, messageOf } from '../../base/errors.ts'
import { lockFolder } from '../../process/lock.ts'
import { loadProviders } from '../../settings/providers-file.ts'
import type { Provider } from '../../settings/providers.ts'
import { providersSchema } from '../../settings/providers-shape.ts'
import { assertOwnFolder, claimDataFolder, isDataFolder } from '../../storage/data-folder-claim.ts'
import { formatRows } from '../../base/rows.ts'
import type { CommandCall } from '../../part.ts'

/** The input of an action, such as `list` or `install`. */
interface Work extends Pick<CommandCall, 'config' | 'words' | 'environment' | 'print' | 'tell' | 'signal'> {
  /** The value of `--version` of `install`; undefined when it is not given. */
  readonly version: string | undefined
  /** Whether `list` prints JSON (`--json`). */
  readonly asJson: boolean
  readonly agentsDir: string
  /** Whether the data folder exists. */
  readonly isThere: boolean
  readonly providers: readonly Provider[]
  /** The words of the command line after the action: names of agents. */
  readonly names: readonly string[]
}

/**
 * Runs `agent-server agents`. Returns exit code 0 when done, 1 when `verify` finds a difference.
 * @throws AppError `invalid_option` for an unknown action; the errors of `loadProviders` and of the actions
 */
export async function run(call: CommandCall): Promise<number> {
  const { config, words, flags, environment, print, tell, signal } = call
  const [action, ...names] = words
  const isThere = await isDataFolder(config.dataDir)
  const providers = await loadProviders({ file: config.providersFile, commands: config.acpCommands })
  const asked = { words, names, version: flags['version'], asJson: flags['json'] === 'true' }
  const place = { config, isThere, providers, agentsDir: agentsFolderIn(config.dataDir) }
  const work: Work = { ...asked, ...place, environment, print, tell, signal }
  switch (action) {
    case 'list':
      return list(work)
    case 'install':
      return install(work)
    case 'verify':
      return verify(work)
    case 'remove':
      return remove(work)
    case 'schema':
      return (say(call.print, JSON.stringify(providersSchema(), undefined, 2)), 0)
    default:
      throw new AppError(
        'invalid_option', `Could not use ${shown(action)}: expected agents list, install, verify, remove or schema`,
      )
  }
}

async function list({ agentsDir, providers, asJson, print }: Work): Promise<number> {
  const names = new Set([...providers.map(({ name }) => name), ...(await listInstalled(agentsDir))])
  const rows = await Promise.all(
    [...names].map(async (name) => ({ name, ...(await describe(agentsDir, name, providers)) })),
  )
  if (asJson) say(print, JSON.stringify(rows, undefined, 2))
  else {
    say(
      print,
      formatRows(
        rows.map((row) => [
          row.name, row.version, row.state, row.sizeBytes === 0 ? '' : inMiB(row.sizeBytes), row.advice,
        ]),
      ),
    )
  }
  return 0
}

interface Row {
  readonly version: string
  readonly state: 'installed' | 'not installed' | 'changed' | 'damaged record'
  readonly sizeBytes: number
  /** Advice about the state, mostly a command; empty when nothing needs to be done. */
  readonly advice: string
}

/** Describes an agent after the quick check of its executables (`findDifference`). */
async function describe(agentsDir: string, name: string, providers: readonly Provider[]): Promise<Row> {
  const provider = providers.find((known) => known.name === name)
  const pinned = provider?.version ?? ''
  const again = provider?.installCommand || `agent-server agents install ${name}`
  try {
    const found = await readInstallation(agentsDir, name)
    if (found === undefined) {
      return { version: pinned, state: 'not installed', sizeBytes: 0, advice: pinned === '' ? '' : again }
    }
    const about = { version: found.version, sizeBytes: sizeOf(found) }
    if (await findDifference(agentsDir, found)) {
      return { ...about, state: 'changed', advice: `agent-server agents verify ${name}` }
    }
    const isOther = pinned !== '' && pinned !== found.version
    return { ...about, state: 'installed', advice: isOther ? `the pinned version is ${pinned}: ${again}` : '' }
  } catch {
    return { version: '', state: 'damaged record', sizeBytes: 0, advice: again } // The state reports the error.
  }
}

async function install(work: Work): Promise<number> {
  const { agentsDir, providers, config, environment, print, tell, signal } = work
  const name = onlyName(work)
  const provider = providers.find((known) => known.name === name)
  if (provider === undefined) {
    throw new AppError(
      'invalid_option', `Could not use "${name}": expected one of ${providers.map((known) => known.name).join(', ')}`,
    )
  }
  const start = Date.now()
  const stopTicking = tick(start, tell)
  const report = (step: string): void => tell(`${name}: ${step}\n`)
  const { version = provider.version } = work
  try {
    await claimDataFolder(config.dataDir)
    const done = await installAgent({
      agentsDir, provider, version, environment, signal, clock: Date.now, createId: randomUUID, report,
    })
    say(
      print,
      `${name}  installed ${done.packageName} ${done.version}: ${done.files.length} files, ${inMiB(sizeOf(done))}, ` +
      `in ${seconds(start)}`,
    )
  } finally {
    stopTicking()
  }
  await removeWaste(work)
  return 0
}

async function verify({ agentsDir, names, isThere, print, signal }: Work): Promise<number> {
  if (!isThere) return noneInstalled(names, print)
  let isSound = true
  const wanted = names.length > 0 ? names : await listInstalled(agentsDir)
  if (wanted.length === 0) return noneInstalled([], print)
  for (const name of wanted) {
    const start = Date.now()
    const differences = await verifyAgent(agentsDir, name, { signal, clock: Date.now })
    if (differences === undefined) throw notInstalled(name)
    for (const { path, problem } of differences) say(print, `${name}  ${problem}: ${path}`)
    if (differences.length > 0) isSound = false
    else say(print, `${name}  every digest is right (${seconds(start)})`)
  }
  return isSound ? 0 : 1
}

function noneInstalled([wanted]: readonly string[], print: Work['print']): number {
  if (wanted !== undefined) throw notInstalled(wanted)
  say(print, 'No agent is installed: see agent-server agents list')
  return 0
}

async function remove(work: Work): Promise<number> {
  const { agentsDir, isThere } = work
  const name = onlyName(work)
  await assertOwnFolder(work.config.dataDir)
  if (!isThere || !await removeAgent(agentsDir, name, Date.now)) throw notInstalled(name)
  const isGone = await removeWaste(work)
  say(work.print, `${name}  removed${isGone ? '' : '; its files go when the server that runs here starts again'}`)
  return 0
}

/** Removes the files that no record names. Returns false if it could not, for example because a server runs. */
async function removeWaste({ agentsDir, config: { dataDir }, tell }: Work): Promise<boolean> {
  try {
    const lock = await lockFolder(dataDir, { clock: Date.now, onLost: () => undefined })
    await changeAgents(agentsDir, Date.now, () => removeUnused(agentsDir)).finally(() => lock.release())
    return true
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'owned_by_another') return false
    tell(`agent-server: the files of earlier versions are left: ${messageOf(thrown)}\n`)
    return false
  }
}

function onlyName({ words, names: [name, ...more] }: Work): string {
  if (name !== undefined && more.length === 0) return name
  throw new AppError('invalid_option', `Could not use "agents ${words.join(' ')}": expected the name of one provider`)
}

function notInstalled(name: string): AppError {
  return new AppError('not_found', `Could not find an installed agent "${name}": see agent-server agents list`)
}

/** Reports every ten seconds that the installation still runs. Returns a function that stops the reports. */
function tick(start: number, tell: Work['tell']): () => void {
  const timer = setInterval(() => tell(`  still running after ${seconds(start)}\n`), 10_000)
  return () => clearInterval(timer)
}

function shown(word: string | undefined): string {
  return word === undefined ? 'agents without an action' : `"${word}"`
}

function seconds(start: number): string {
  return `${((Date.now() - start) / 1000).toFixed(1)} s`
}

function inMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}

function say(print: Work['print'], text: string): void {
  print(`${text}\n`)
}
