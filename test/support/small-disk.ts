/**
 * A small file system of its own (tmpfs), for programs whose disk is to be full: `data` in their folder is on it.
 *
 * Where the system does not let us mount one, which takes root on Linux, `mountRefusal` says why.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, systemCodeOf } from '../../src/base/errors.ts'
import { makeFolder } from './processes.ts'
import { withPrograms, type StartProgram } from './server.ts'

/** A folder that programs are started in, and the disk in it. */
export interface SmallDisk {
  readonly folder: string
  /** Takes every byte that is left. */
  fill(): void
  /** Makes files until no more can be made. */
  useUpFiles(): void
  /** Removes the disk and its mount. */
  clear(): void
  /** As mount(8) takes them, `ro` for example. Only while nothing is open for writing. */
  remount(options: string): void
}

/** Why no file system can be mounted here; undefined when one can. */
export function mountRefusal(): string | undefined {
  const { folder, remove } = makeFolder()
  try {
    mount(folder, 'size=64k')
    execFileSync('umount', [folder])
    return undefined
  } catch (thrown) {
    return messageOf(thrown)
  } finally {
    remove()
  }
}

/** A test body with a small disk. `options` as of mount(8), `size=8m` for example. */
export function withSmallDisk(
  options: string, body: (start: StartProgram, disk: SmallDisk) => Promise<void>,
): () => Promise<void> {
  return withPrograms(async (start, folder) => {
    const path = join(folder, 'data')
    await mkdir(path, { mode: 0o700 })
    mount(path, options)
    try {
      await body(start, diskAt(folder, path))
    } finally {
      // Lazily: programs that a failed test has left are killed a moment later.
      execFileSync('umount', ['-l', path])
    }
  })
}

function mount(path: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `mode=0700,${options}`, 'tmpfs', path], { stdio: 'ignore' })
}

function diskAt(folder: string, path: string): SmallDisk {
  const ballast = join(path, 'ballast')
  let files = 0
  return {
    folder,
    fill() {
      const descriptor = openSync(ballast, 'a')
      untilFull(() => writeSync(descriptor, Buffer.alloc(4096)))
      closeSync(descriptor)
    },
    useUpFiles() {
      untilFull(() => writeFileSync(`${ballast}-${++files}`, ''))
    },
    clear() {
      rmSync(ballast, { force: true })
      for (; files > 0; files--) rmSync(`${ballast}-${files}`, { force: true })
    },
    remount: (options) => void execFileSync('mount', ['-o', `remount,${options}`, path], { stdio: 'ignore' }),
  }
}

function untilFull(step: () => void): void {
  try {
    for (;;) step()
  } catch (thrown) {
    if (systemCodeOf(thrown) !== 'ENOSPC') throw thrown
  }
}
