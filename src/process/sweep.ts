/**
 * Ends the processes that a killed server left.
 *
 * The caller must hold the lock on the data folder: then a process whose marker has the folder's instance id was
 * started by a dead server. Without /proc only processes in cgroups are found.
 */
import { AppError } from '../base/errors.ts'
import { sweepCgroups } from './cgroup.ts'
import { Family } from './family.ts'
import { isInstanceId } from './marker.ts'

export interface SweepOptions {
  /** The instance id of the data folder: the part of a marker before the slash. */
  readonly instance: string
  /** The result of `findCgroupParent`. If it is defined, the cgroups of a killed server are removed as well. */
  readonly cgroupParent?: string | undefined
  /** Time limit of the sweep. Default 5 s. */
  readonly limitMs?: number
  readonly proc?: string | undefined
}

/**
 * Ends the processes that have a marker of this instance, and their descendants. Resolves when none is left.
 * @throws AppError `unavailable` when a process cannot be killed; RangeError for a malformed `instance`.
 */
export async function sweepMarked(options: SweepOptions): Promise<void> {
  const { instance, cgroupParent: parent, limitMs = 5000, proc } = options
  if (!isInstanceId(instance)) {
    throw new RangeError(`Expected an instance id of letters, digits, "-" and "_", got ${JSON.stringify(instance)}`)
  }
  const prefix = `${instance}/`
  const family = new Family({ isMarked: (marker) => marker.startsWith(prefix), proc })
  const [left, areGroupsGone] = await Promise.all([
    family.kill({ limitMs }),
    parent === undefined || sweepCgroups({ parent, instance, limitMs }),
  ])
  if (left.length === 0 && areGroupsGone) return
  const pids = left.map(({ pid }) => pid).join(', ') || 'processes of a cgroup'
  throw new AppError('unavailable', `Cannot end processes of an earlier server within ${limitMs} ms: ${pids}`)
}
