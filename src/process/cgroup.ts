/**
 * Puts a child process into a control group (cgroup v2), so that the kernel can kill the child and its descendants at
 * once.
 *
 * Optional: it needs Linux 5.14 and the right to make a group. A process that the child forks just after the start of
 * the child may be outside of the group. See the kernel's Documentation/admin-guide/cgroup-v2.rst and proc(5).
 */
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { access, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCodeOf } from '../base/errors.ts'
import { sleep } from '../base/wait.ts'

const namePrefix = 'agent-server.'

export interface Cgroup {
  /** Kills the group's processes and removes the group. Returns false if that takes more than `limitMs`. */
  end(options: { limitMs: number }): Promise<boolean>
}

/** Returns the folder of this process's cgroup; undefined if groups cannot be made below it, or lack `cgroup.kill`. */
export async function findCgroupParent(proc = '/proc'): Promise<string | undefined> {
  try {
    const mount = parseMount(await readFile(join(proc, 'self/mountinfo'), 'utf8'))
    const own = /^0::(\/.*)$/m.exec(await readFile(join(proc, 'self/cgroup'), 'utf8'))?.[1]
    if (mount === undefined || own === undefined || !`${own}/`.startsWith(`${mount.root}/`)) return undefined
    const parent = join(mount.point, own.slice(mount.root.length))
    return await canMakeGroups(parent) ? parent : undefined
  } catch {
    return undefined // Without cgroups, the processes of a child are found by the marker in their environment.
  }
}

/** Puts a process into a new group, named after its marker (marker.ts). Returns undefined if that fails. */
export function joinCgroup(parent: string, marker: string, pid: number): Cgroup | undefined {
  const folder = join(parent, `${namePrefix}${marker.replace('/', '.')}`)
  try {
    mkdirSync(folder)
  } catch {
    return undefined // The process is found by the marker in its environment instead.
  }
  try {
    writeFileSync(join(folder, 'cgroup.procs'), String(pid))
  } catch {
    rmdirSync(folder) // The process is found by the marker in its environment instead.
    return undefined
  }
  return { end: ({ limitMs }) => endGroup(folder, limitMs) }
}

/** Ends the groups that a killed server with this instance id left. Returns false if such a group still exists. */
export async function sweepCgroups(options: { parent: string, instance: string, limitMs: number }): Promise<boolean> {
  const { parent, instance, limitMs } = options
  const names = await readdir(parent).catch(() => []) // An unreadable folder counts as empty.
  const ours = names.filter((name) => name.startsWith(`${namePrefix}${instance}.`))
  const ended = await Promise.all(ours.map((name) => endGroup(join(parent, name), limitMs)))
  return ended.every(Boolean)
}

async function endGroup(folder: string, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs
  for (;;) {
    await writeFile(join(folder, 'cgroup.kill'), '1').catch(() => undefined) // The group may be gone.
    if (await removeTree(folder)) return true
    if (performance.now() > end) return false
    await sleep(10)
  }
}

/** Removes a group and its subgroups. Returns false if the group stays, for example because it has a process. */
async function removeTree(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []) // The group may be gone.
  for (const entry of entries) {
    if (entry.isDirectory()) await removeTree(join(folder, entry.name))
  }
  return rmdir(folder).then(() => true, (error: unknown) => systemCodeOf(error) === 'ENOENT')
}

async function canMakeGroups(parent: string): Promise<boolean> {
  const probe = join(parent, `${namePrefix}probe.${process.pid}`)
  mkdirSync(probe)
  try {
    return await access(join(probe, 'cgroup.kill')).then(() => true, () => false) // Any error counts as absent.
  } finally {
    rmdirSync(probe)
  }
}

/**
 * Returns the root and the mount point of cgroup v2; undefined if it is not mounted. A line of mountinfo reads
 * `36 35 98:0 /root /mount/point options [optional fields] - cgroup2 source options`, with blanks escaped as \040.
 */
function parseMount(mountinfo: string): { root: string, point: string } | undefined {
  const match = /^\d+ \d+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(mountinfo)
  if (match === null) return undefined
  const [, root = '', point = ''] = match
  return { root: root === '/' ? '' : unescapeOctal(root), point: unescapeOctal(point) }
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
