/**
 * Reads files, such as settings and keys, as they were at one moment. A server may replace files while they are read.
 *
 * Paths, inodes, sizes and times are compared before and after the reading. If they differ, all files are read again.
 */
import { join } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { failsAsStorage } from '../../base/own-files.ts'
import { readFile } from '../../base/read-files.ts'
import { sleep } from '../../base/wait.ts'
import { filesAt, orMissing, type FoundFile } from './contents.ts'

export interface Moment {
  readonly contents: ReadonlyMap<string, Buffer>
  /** Paths of links and special files, which `contents` leaves out. */
  readonly left: readonly string[]
  /** The paths, inodes, sizes and times of the files as one text. It changes when one of these changes. */
  readonly stamp: string
}

export interface MomentOptions {
  readonly dataDir: string
  /** Returns the files and folders to read, relative to the data folder. */
  readonly list: () => Promise<readonly string[]>
  readonly signal: AbortSignal
  readonly read?: (path: string) => Promise<Buffer>
  /** The pause before the files are read again, after a file has changed. Default 25 ms. */
  readonly pauseMs?: number
}

const tryLimit = 400

/**
 * Reads the files that `list` names. Repeats this until no file has changed meanwhile.
 * @throws AppError `storage_failed`, `unavailable` if a file changed in each of `tryLimit` tries; the signal's reason
 */
export async function readMoment(options: MomentOptions): Promise<Moment> {
  const { dataDir, list, signal, read = readFile, pauseMs = 25 } = options
  for (let tries = 1; tries <= tryLimit; tries++) {
    const before = await look(dataDir, await list())
    const contents = new Map<string, Buffer>()
    for (const { path } of before.files) {
      const content = await failsAsStorage(`Cannot back up "${path}"`, () => orMissing(read(join(dataDir, path))))
      if (content !== undefined) contents.set(path, content)
    }
    const after = await look(dataDir, await list())
    if (before.stamp === after.stamp) return { contents, left: before.left, stamp: before.stamp }
    await sleep(pauseMs, signal)
  }
  throw new AppError('unavailable', 'Cannot back up: the settings were changed all the time; try again')
}

/** Returns the stamp (`Moment.stamp`) of the files at these paths. */
export async function stampOf(dataDir: string, paths: readonly string[]): Promise<string> {
  return (await look(dataDir, paths)).stamp
}

async function look(
  dataDir: string, paths: readonly string[],
): Promise<{ readonly files: readonly FoundFile[]; readonly left: readonly string[]; readonly stamp: string }> {
  const files: FoundFile[] = []
  const left: string[] = []
  for (const path of paths) {
    for await (const found of filesAt(dataDir, path)) {
      if (found.kind === 'file') files.push(found)
      else if (found.kind === 'left') left.push(found.path)
    }
  }
  const stamps = files.map(({ path, stats: { ino, size, mtimeNs, ctimeNs } }) => {
    return `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
  })
  return { files, left, stamp: stamps.join('\n') }
}
