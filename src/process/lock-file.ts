/**
 * Locks a folder where flock(1) cannot: with a file that has a token of the owner and the time of the last heartbeat.
 *
 * Another server may take the lock `staleMs` after the last heartbeat. A suspended process can lose the lock in this
 * way. After it resumes, `onLost` is called. Check `isOurs` before each write.
 */
import { randomUUID } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { systemCodeOf } from '../base/errors.ts'
import { isObject, parseJson } from '../base/json.ts'
import { link, openNew, removeFile, rename } from '../base/own-files.ts'
import { readFile, stat } from '../base/read-files.ts'
import type { Clock } from '../base/stamp.ts'
import { sleep } from '../base/wait.ts'

export interface Heartbeat {
  /** The time between two heartbeats. Default 10 s. */
  readonly beatMs?: number
  /** The time without a heartbeat after which another server may take the lock. Default 45 s. */
  readonly staleMs?: number
  /** The wait after replacing a stale file. Other servers may do the same: the last one gets the lock. Default 2 s. */
  readonly settleMs?: number
}

const defaultStaleMs = 45_000

export interface LockFileOptions extends Heartbeat {
  readonly path: string
  readonly clock: Clock
  /** Called once when the lock is lost: the file has another token, or cannot be read or written. */
  readonly onLost: () => void
}

export interface HeldLockFile {
  /** False after `release`, after the loss of the lock, and `staleMs` after the last heartbeat. */
  isOurs(): boolean
  release(): Promise<void>
}

/** Takes the lock. Returns `taken` when another server has the lock or gets the lock first. */
export async function holdLockFile(options: LockFileOptions): Promise<HeldLockFile | 'taken'> {
  const { path, clock, onLost, beatMs = 10_000, staleMs = defaultStaleMs } = options
  const token = randomUUID()
  const beatAt = clock()
  const file = await openNew(`${path}.${token}`)
  let isOurs = false
  try {
    await writeBeat(file, token, clock)
    isOurs = await create(path, token) || await takeOver(options, token)
  } finally {
    await removeFile(`${path}.${token}`)
    if (!isOurs) await file.close()
  }
  if (!isOurs) return 'taken'
  return keepBeating({ path, token, file, clock, onLost, beatMs, staleMs, beatAt })
}

async function create(path: string, token: string): Promise<boolean> {
  try {
    await link(`${path}.${token}`, path)
    return true
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function takeOver(options: LockFileOptions, token: string): Promise<boolean> {
  const { path, clock, staleMs = defaultStaleMs, settleMs = 2000 } = options
  if (clock() - await readBeat(path) < staleMs) return false
  await rename(`${path}.${token}`, path)
  await sleep(settleMs)
  return await readToken(path) === token
}

interface Beating {
  readonly path: string
  readonly token: string
  readonly file: FileHandle
  readonly clock: Clock
  readonly onLost: () => void
  readonly beatMs: number
  readonly staleMs: number
  /** The time just before the newest heartbeat of this process was written. */
  readonly beatAt: number
}

function keepBeating({ path, token, file, clock, onLost, beatMs, staleMs, ...first }: Beating): HeldLockFile {
  let { beatAt } = first
  let last = Promise.resolve()
  const beat = async (): Promise<void> => {
    const now = clock()
    // A failed write counts as the loss of the lock.
    const isOurs = await readToken(path) === token && await writeBeat(file, token, clock).then(() => true, () => false)
    if (isOurs) beatAt = now
    if (isOurs || timer === undefined) return
    stop()
    onLost()
  }
  let timer: NodeJS.Timeout | undefined = setInterval(() => (last = last.then(beat)), beatMs).unref()
  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    isOurs: () => timer !== undefined && clock() - beatAt < staleMs,
    async release() {
      stop()
      await last
      if (await readToken(path) === token) await removeFile(path)
      await file.close()
    },
  }
}

/** Writes a heartbeat at the start of the file, over the previous heartbeat, which has the same length. */
async function writeBeat(file: FileHandle, token: string, clock: Clock): Promise<void> {
  await file.write(`${JSON.stringify({ token, beat: String(clock()).padStart(20) })}\n`, 0)
}

/** Returns the time of the last heartbeat; if there is none, the time of the file's last change, or 0. */
async function readBeat(path: string): Promise<number> {
  const value = await readContent(path)
  if (typeof value?.['beat'] === 'string') return Number(value['beat'])
  return stat(path).then(({ mtimeMs }) => mtimeMs, () => 0) // The file is gone, or may not be read.
}

async function readToken(path: string): Promise<unknown> {
  return (await readContent(path))?.['token']
}

async function readContent(path: string): Promise<Record<string, unknown> | undefined> {
  const value = await readFile(path, 'utf8').then(parseJson).catch(() => undefined) // An unreadable file has no token.
  return isObject(value) ? value : undefined
}
