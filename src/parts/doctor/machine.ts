/**
 * Examines the machine for `agent-server doctor`: for example Node, the data folder, the keys, and features of the
 * system such as cgroups (DECISIONS.md, sections 26, 28 and 29). Changes nothing in the data folder.
 */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { assertNever, messageOf, systemCodeOf } from '../../base/errors.ts'
import { formatMode, othersMay } from '../../base/file-mode.ts'
import { access, isThere, stat } from '../../base/read-files.ts'
import type { Config, SealingKeyOptions } from '../../config.ts'
import { findCgroupParent } from '../../process/cgroup.ts'
import { readOwner } from '../../process/lock.ts'
import type { Environment } from '../../process/environment.ts'
import type { InspectedPart } from '../../inspected-part.ts'
import { readProcess } from '../../process/proc.ts'
import { detectTerminalKind } from '../../process/pty.ts'
import { findMemory } from '../../process/secret-folder.ts'
import { inspectMasking, inspectSealed, type SealingConfig } from '../../sealed-stores.ts'
import { exposedKeys } from '../../settings/keys.ts'
import { isDataFolder, ownerProblem } from '../../storage/data-folder-claim.ts'
import type { Finding } from '../../finding.ts'
import { examineOperation } from './operation.ts'

export interface MachineExamination {
  readonly config: Pick<Config, 'dataDir'> & Readonly<Record<string, unknown>>
  readonly sealingKeyOptions: SealingKeyOptions
  /** The key files that options name and that other users can read. Default: none. */
  readonly exposedFiles?: readonly string[]
  readonly environment: Environment
  /** The parts of this build, each of which can add findings. Default: none. */
  readonly parts?: readonly InspectedPart[]
  /** The version of Node to examine. Default: the version of this process. */
  readonly nodeVersion?: string
  /** The folder at which proc(5) is mounted. Default `/proc`. */
  readonly proc?: string
}

export async function examineMachine(examination: MachineExamination): Promise<readonly Finding[]> {
  const { config, exposedFiles = [], environment, nodeVersion = process.version, proc = '/proc' } = examination
  const searchPath = environment['PATH'] ?? ''
  return [
    examineNode(nodeVersion),
    await examineDataFolder(config.dataDir, proc),
    await examineCgroup(proc),
    await examineTerminal(searchPath),
    ...await examineParts(examination),
    await examineKeys(join(config.dataDir, 'keys'), exposedFiles),
    await examineSeals(examination),
    await examineMasking(examination),
    await examineMemory(environment),
    ...await examineOperation(config, proc),
  ]
}

async function examineParts({ parts = [], config, environment }: MachineExamination): Promise<readonly Finding[]> {
  const found = parts.flatMap(({ examine }) => (examine === undefined ? [] : [examine(config, environment)]))
  return (await Promise.all(found)).flat()
}

function examineNode(nodeVersion: string): Finding {
  const [major = 0, minor = 0] = nodeVersion.slice(1).split('.').map(Number)
  const isEnough = major > 20 || (major === 20 && minor >= 19)
  const subject = 'Node'
  if (isEnough) return { subject, state: 'ok', text: nodeVersion, advice: '' }
  return {
    subject,
    state: 'problem',
    text: `${nodeVersion} is too old`,
    advice: 'install Node 20.19 or later, best the newest LTS',
  }
}

async function examineDataFolder(dataDir: string, proc: string): Promise<Finding> {
  const subject = 'data folder'
  const problem = (text: string, advice: string): Finding => ({
    subject,
    state: 'problem',
    text: `${dataDir}: ${text}`,
    advice,
  })
  const folder = await stat(dataDir).catch(systemCodeOf)
  if (folder === 'ENOENT') {
    const parent = await nearestFolder(dataDir)
    if (await may(parent)) {
      return { subject, state: 'ok', text: `${dataDir}: does not exist yet, the first start creates it`, advice: '' }
    }
    return problem(`does not exist, and "${parent}" is not writable`, 'choose another folder with --data-dir')
  }
  if (typeof folder !== 'object') {
    return problem(`cannot be examined (${folder})`, 'choose another folder with --data-dir')
  }
  if (!folder.isDirectory()) return problem('is not a folder', 'choose another folder with --data-dir')
  const owner = `user ${folder.uid}`
  if (!await may(dataDir)) return problem(`belongs to ${owner} and may not be written`, 'run the server as its owner')
  const refusal = await isDataFolder(dataDir).then(() => undefined, messageOf)
  if (refusal !== undefined) return problem(refusal, 'choose another folder with --data-dir, or use another version')
  const foreign = ownerProblem(folder.uid, process.geteuid?.())
  if (foreign !== undefined) return problem(foreign, 'run the server and its commands as the owner of the folder')
  const others = othersMay(folder.mode)
  if (others === 'write') {
    return problem(`other users may write it (mode ${formatMode(folder.mode)})`, `chmod 700 ${dataDir}`)
  }
  const server = await readOwner(dataDir)
  const isAlive = server !== undefined && readProcess(proc, server.pid) !== undefined
  const text = `${dataDir}: can be written, belongs to ` +
    `${owner}${isAlive ? `; a server runs there, ${server.text}` : ''}`
  if (others === 'nothing') return { subject, state: 'ok', text, advice: '' }
  return { subject, state: 'note', text, advice: `chmod 700 ${dataDir}, because other users may read the folder` }
}

async function examineKeys(folder: string, exposedFiles: readonly string[]): Promise<Finding> {
  const subject = 'keys'
  const exposed = await exposedKeys(folder)
  const open = exposed.find((key) => key.othersMay === 'write')
  if (open !== undefined) {
    const text = `${open.path}: other users may write it (mode ${formatMode(open.mode)}), and may have replaced the ` +
      'key'
    return { subject, state: 'problem', text, advice: 'check its content, then chmod it to 700 (folder) or 600 (file)' }
  }
  const read = [...exposed.map(({ path }) => path), ...exposedFiles]
  if (read.length === 0) return { subject, state: 'ok', text: 'no other user may read them', advice: '' }
  return {
    subject,
    state: 'note',
    text: `other users may read ${read.join(', ')}`,
    advice: 'chmod 600 (a folder: 700), and consider new keys',
  }
}

async function examineMemory(environment: Environment): Promise<Finding> {
  const subject = 'secrets in use'
  const memory = await findMemory(environment)
  if (memory !== undefined) {
    return { subject, state: 'ok', text: `in memory (${memory}), not in the data folder`, advice: '' }
  }
  const text =
    'no file system in memory: secrets are in plain text in runtime/ of the data folder while a program uses them'
  return { subject, state: 'note', text, advice: 'leave runtime/ out of backups, or set XDG_RUNTIME_DIR to a tmpfs' }
}

async function examineSeals(examination: MachineExamination): Promise<Finding> {
  const subject = 'stored secrets'
  const [problem, ...more] = await inspectSealed(sealingOf(examination), examination.parts ?? [])
  if (problem === undefined) return { subject, state: 'ok', text: 'the given keys open every sealed value', advice: '' }
  const advice = 'give the key that sealed it, with --secret-key-file, --old-secret-key-file or in keys/'
  return { subject, state: 'problem', text: [problem, ...more].join('; '), advice }
}

async function examineMasking(examination: MachineExamination): Promise<Finding> {
  const subject = 'masking'
  const told = await inspectMasking(sealingOf(examination))
  if (told.length === 0) {
    return { subject, state: 'ok', text: 'every stored secret is masked in records, responses and the log', advice: '' }
  }
  const more = told.length > maskingLimit ? [`${told.length - maskingLimit} more`] : []
  const advice = 'give them longer values; store values that are not secret in the settings'
  return { subject, state: 'note', text: [...told.slice(0, maskingLimit), ...more].join('; '), advice }
}

function sealingOf({ config: { dataDir }, sealingKeyOptions }: MachineExamination): SealingConfig {
  const { secretKey, oldSecretKeys } = sealingKeyOptions
  return { dataDir, secretKey, oldSecretKeys }
}

/** The most secrets that the finding about masking names. Further secrets are only counted. */
const maskingLimit = 10

async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path)
  const exists = parent === path || await isThere(parent)
  return exists ? parent : nearestFolder(parent)
}

function may(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK | constants.X_OK).then(() => true, () => false) // Any error means no.
}

async function examineCgroup(proc: string): Promise<Finding> {
  const subject = 'processes'
  const parent = await findCgroupParent(proc)
  if (parent !== undefined) {
    return { subject, state: 'ok', text: 'a cgroup for each agent: no process of it can be left behind', advice: '' }
  }
  const text = 'no cgroup can be made here: a process that clears its environment and detaches itself is not found'
  return { subject, state: 'note', text, advice: 'delegate a cgroup to the server (Delegate=yes in systemd)' }
}

async function examineTerminal(searchPath: string): Promise<Finding> {
  const subject = 'pseudo-terminal'
  const kind = await detectTerminalKind({ cwd: '/', env: { PATH: searchPath }, marker: `doctor/${randomUUID()}` })
  switch (kind) {
    case 'script': return { subject, state: 'ok', text: 'by script(1)', advice: '' }
    case 'python': return { subject, state: 'ok', text: "by Python's pty module", advice: '' }
    case 'pipes': {
      const text =
        'none: the terminal tool works over pipes, without control keys and programs that insist on a terminal'
      return { subject, state: 'note', text, advice: 'install script(1) of util-linux' }
    }
    default: return assertNever(kind)
  }
}
