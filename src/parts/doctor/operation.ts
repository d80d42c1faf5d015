/** Five checks of `agent-server doctor`: disk space, data folder lock, open files, clock, and access to the server. */
import { dirname, join } from 'node:path'
import { isThere, readFile, stat, statfs } from '../../base/read-files.ts'
import type { Config } from '../../config.ts'
import type { Finding } from '../../finding.ts'
import { isLoopbackName } from '../../http/origin.ts'
import { systemPath } from '../../process/lock.ts'

/** Returns a finding for each of the five checks below. `proc` is the folder at which proc(5) is mounted. */
export async function examineOperation(config: OperationConfig, proc: string): Promise<readonly Finding[]> {
  const now = Date.now()
  return [
    await examineDisk(config.dataDir),
    await examineLock(systemPath),
    await examineDescriptors(proc),
    await examineClock(config.dataDir, now),
    examineAccess(config),
  ]
}

type OperationConfig = Pick<Config, 'dataDir'> & Readonly<Record<string, unknown>>

const MiB = 1024 * 1024
/** Free disk space below this is a problem. */
const leastBytes = 16 * MiB
/** Free disk space below this gets a note. */
const fewBytes = 1024 * MiB

async function examineDisk(dataDir: string): Promise<Finding> {
  const subject = 'disk'
  // If the data folder is missing, the space of its parent folder counts.
  const space = await statfs(dataDir).catch(() => statfs(dirname(dataDir))).catch(() => undefined)
  if (space === undefined) return { subject, state: 'ok', text: 'the system does not report its space', advice: '' }
  const free = space.bavail * space.bsize
  const isOutOfFiles = space.files > 0 && space.ffree === 0
  const text = isOutOfFiles ? 'no more files can be made' : `${Math.floor(free / MiB)} MiB are free`
  if (isOutOfFiles || free < leastBytes) {
    return { subject, state: 'problem', text, advice: 'delete conversations or other files, or use a larger disk' }
  }
  if (free >= fewBytes) return { subject, state: 'ok', text, advice: '' }
  return { subject, state: 'note', text, advice: 'make space; --retain-days and --max-disk keep some free' }
}

async function examineLock(searchPath: string): Promise<Finding> {
  const subject = 'lock'
  for (const folder of searchPath.split(':')) {
    if (await isThere(join(folder, 'flock'))) return { subject, state: 'ok', text: 'by flock(1)', advice: '' }
  }
  const text = 'no flock(1): a file with a heartbeat keeps a second server away, after a kill for some seconds longer'
  return { subject, state: 'note', text, advice: 'install flock(1) of util-linux' }
}

/** A limit of open files below this number gets a note. Each connection, log and agent program needs open files. */
const fewDescriptors = 4096

async function examineDescriptors(proc: string): Promise<Finding> {
  const subject = 'open files'
  // A limit that cannot be read counts as unlimited.
  const limits = await readFile(join(proc, 'self', 'limits'), 'utf8').catch(() => '')
  const [, word = 'unlimited'] = /^Max open files +(\d+|unlimited) /m.exec(limits) ?? []
  const text = `a process may have ${word} files open`
  const isEnough = word === 'unlimited' || Number(word) >= fewDescriptors
  if (isEnough) return { subject, state: 'ok', text, advice: '' }
  return { subject, state: 'note', text, advice: 'raise the limit: ulimit -n 65536, LimitNOFILE=65536 in systemd' }
}

const hourMs = 3_600_000

async function examineClock(dataDir: string, now: number): Promise<Finding> {
  const subject = 'clock'
  // A data folder that is missing or cannot be examined passes this check.
  const changed = (await stat(dataDir).catch(() => undefined))?.mtimeMs ?? 0
  const text = new Date(now).toISOString()
  if (changed <= now + hourMs) return { subject, state: 'ok', text, advice: '' }
  return {
    subject,
    state: 'note',
    text: `${text}, but the data folder was changed at ${new Date(changed).toISOString()}`,
    advice: 'set the clock: ends of keys, retention and the order of the list follow it',
  }
}

function examineAccess({ host, noAuth }: OperationConfig): Finding {
  const subject = 'access'
  const isLocal = typeof host !== 'string' || isLoopbackName(host)
  if (noAuth === true) {
    const text = 'no key is asked for: every program of this machine may use the server'
    return { subject, state: 'note', text, advice: 'leave --no-auth out' }
  }
  if (isLocal) return { subject, state: 'ok', text: 'clients of this machine, with a key', advice: '' }
  const text = `other machines can reach the server at ${host}, with a key and without TLS`
  return { subject, state: 'note', text, advice: 'put a proxy with TLS before it, and listen on a loopback address' }
}
