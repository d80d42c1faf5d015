/**
 * Watches a process and its descendants from outside (proc(5)): the programs of the descendants, and the open files,
 * memory maps and IP sockets of all processes that run Node. Things that exist only between two looks are not seen.
 */
import { basename, join } from 'node:path'
import { readdir, readFile, realpath, stat } from '../../base/read-files.ts'
import { sleep } from '../../base/wait.ts'
import { readProcesses } from '../../process/proc.ts'

export interface Seen {
  /** The paths of the open files and memory maps of the server and its agent. */
  readonly files: ReadonlySet<string>
  /** The names of the programs that ran as descendants of the server process. */
  readonly programs: ReadonlySet<string>
  /** Each `address:port` on which the server or its agent listens for TCP connections. */
  readonly listening: ReadonlySet<string>
  /** The remote `address:port` of each connection that the server or its agent opened. */
  readonly connected: ReadonlySet<string>
  readonly looks: number
}

const lookPauseMs = 20

/** Looks at the process and its descendants until the signal aborts, at least once. Returns undefined without /proc. */
export async function watch(pid: number, signal: AbortSignal): Promise<Seen | undefined> {
  const seen = {
    files: new Set<string>(), programs: new Set<string>(), listening: new Set<string>(), connected: new Set<string>(),
    looks: 0,
  }
  if (await readProcesses('/proc') === undefined) return undefined
  do {
    const family = await familyOf(pid)
    for (const member of family) {
      const program = await programOf(member)
      if (member !== pid && program !== undefined) seen.programs.add(program)
      // Files and sockets are examined only in processes that run Node.
      if (program === 'node') await look(member, seen)
    }
    seen.looks++
    await sleep(lookPauseMs, signal).catch(() => undefined) // After an abort, the condition ends the loop.
  } while (!signal.aborted)
  return seen
}

/** Returns the ids of the process and of its descendants; only its own id when `/proc` cannot be read. */
async function familyOf(pid: number): Promise<readonly number[]> {
  const processes = await readProcesses('/proc') ?? []
  const family = [pid]
  for (const member of family) family.push(...processes.filter(({ ppid }) => ppid === member).map((child) => child.pid))
  return family
}

/** Returns `node` for a process that runs Node, else the name of its program; undefined if the process has ended. */
async function programOf(pid: number): Promise<string | undefined> {
  const [line, file] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''), // Empty after the end of the process.
    realpath(`/proc/${pid}/exe`).catch(() => ''), // Empty after the end of the process.
  ])
  const called = basename(line.split('\0', 1)[0] ?? '')
  if (called === '') return undefined
  return file === process.execPath || basename(file) === 'node' ? 'node' : called
}

interface Seeing {
  readonly files: Set<string>
  readonly listening: Set<string>
  readonly connected: Set<string>
}

async function look(pid: number, { files, listening, connected }: Seeing): Promise<void> {
  const sockets = new Set<number>()
  // A process that has ended has no open files.
  for (const name of await readdir(`/proc/${pid}/fd`).catch((): string[] => [])) {
    const path = join('/proc', String(pid), 'fd', name)
    const stats = await stat(path).catch(() => undefined) // The descriptor was closed meanwhile.
    if (stats?.isSocket() === true) sockets.add(stats.ino)
    else if (stats?.isFIFO() === false) files.add(await realpath(path).catch(() => '')) // The file has no path.
  }
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '') // The process has ended.
  for (const [, path = ''] of maps.matchAll(/ (\/[^\n]*?)(?: \(deleted\))?$/gm)) files.add(path)
  files.delete('')
  const own = (await socketsOf(pid)).filter(({ inode }) => sockets.has(inode))
  for (const { local, isListening } of own) if (isListening) listening.add(local)
  // If the local address of a connection is in `listening`, the other side has opened the connection.
  for (const { local, remote } of own) if (!listening.has(local)) connected.add(remote)
}

interface Socket {
  readonly inode: number
  readonly local: string
  readonly remote: string
  readonly isListening: boolean
}

async function socketsOf(pid: number): Promise<readonly Socket[]> {
  const tables = await Promise.all(['tcp', 'tcp6', 'udp', 'udp6'].map((name) => {
    return readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '') // The process or the table is missing.
  }))
  return tables.flatMap((table) => table.split('\n').slice(1).flatMap((line) => {
    const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/)
    if (local === undefined || remote === undefined || inode === undefined) return []
    return [{
      inode: Number(inode), local: readAddress(local), remote: readAddress(remote), isListening: state === '0A',
    }]
  }))
}

/** Reads `0100007F:1F90` as `127.0.0.1:8080`. An IPv6 address stays as the kernel prints it. */
function readAddress(text: string): string {
  const [address = '', port = ''] = text.split(':')
  const bytes = address.length === 8 ? [...address.matchAll(/../g)].reverse() : []
  const name = bytes.length === 0 ? address : bytes.map(([byte]) => Number.parseInt(byte, 16)).join('.')
  return `${name}:${Number.parseInt(port, 16)}`
}
