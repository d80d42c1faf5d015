/**
 * Reads the output of `strace -f -y`, and returns the files, programs and addresses that the processes of one program
 * touched.
 *
 * A process counts as the program while it runs Node. The files of other programs, such as git, are left out: of these
 * programs only the name counts, when Node starts them, and their addresses. A path is resolved by the folders and
 * descriptors that strace prints, so `/proc/self/fd/30/name` is the file behind descriptor 30. Metadata that is read,
 * and a folder that is opened, count as looked at.
 */
import { basename, posix } from 'node:path'

export interface Traced {
  readonly kind: 'read' | 'look' | 'change' | 'program' | 'address'
  /** A path, the name of a program, or an address. */
  readonly name: string
  /** The number of the first line with it. */
  readonly line: number
}

const changing = /^(?:mkdir|unlink|rename|link|symlink|chmod|fchmodat|chown|fchownat|lchown|truncate|utime|rmdir|mknod)/
const looking = /^(?:stat|lstat|newfstatat|statx|readlink|readlinkat|access|faccessat|chdir|getcwd|statfs)/
const writing = /\bO_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)\b/
const call = /^(\d+) +(\w+)\((.*)$/
/** A path, with the folder that it is relative to where strace prints one. */
const pathArgument = /(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g

interface State {
  /** The program that a process runs: its file. */
  readonly programs: Map<number, string>
  /** Processes whose call that makes a child has not returned, the newest last. */
  readonly forking: number[]
  /** The process that a thread belongs to. */
  readonly groups: Map<number, number>
  /** `process descriptor` -> path. */
  readonly descriptors: Map<string, string>
}

/** Returns everything that was touched, each once, in the order of the trace. */
export function readTrace(text: string): readonly Traced[] {
  const state: State = { programs: new Map(), forking: [], groups: new Map(), descriptors: new Map() }
  const found = new Map<string, Traced>()
  for (const [index, line] of text.split('\n').entries()) {
    const [, digits, name = '', rest = ''] = call.exec(line) ?? []
    if (digits === undefined) noteResumed(line, state)
    else for (const [kind, touched] of touchedBy(Number(digits), name, rest, state)) {
      const key = `${kind} ${touched}`
      if (!found.has(key)) found.set(key, { kind, name: touched, line: index + 1 })
    }
  }
  return [...found.values()]
}

type Touched = readonly [kind: Traced['kind'], name: string]

function touchedBy(pid: number, name: string, rest: string, state: State): readonly Touched[] {
  noteNew(pid, state)
  const program = basename(state.programs.get(pid) ?? 'node')
  if (name === 'execve') return start(pid, rest, program, state)
  if (/^v?fork$|^clone3?$/.test(name)) {
    if (rest.endsWith('<unfinished ...>')) state.forking.push(pid)
    else noteChild(pid, rest, state)
  }
  const addresses = [...rest.matchAll(/inet_(?:addr\(|pton\(AF_INET6, )"([^"]+)"/g)].map(([, address = '']) => address)
  if (addresses.length > 0) return addresses.map((address) => ['address', address] as const)
  const socket = /sun_path=@?"([^"]*)"/.exec(rest)?.[1]
  if (socket !== undefined) return program === 'node' ? [['read', socket]] : []
  if (/^(?:socket|bind|connect|send|recv|get|set|accept|listen|shutdown)/.test(name) || program !== 'node') return []
  noteDescriptor(pid, rest, state)
  const kind = kindOf(name, rest)
  return pathsIn(pid, rest, state).map((path) => [kind, path] as const)
}

function kindOf(name: string, rest: string): Traced['kind'] {
  if (changing.test(name) || (name.startsWith('open') && writing.test(rest))) return 'change'
  return looking.test(name) || /\bO_(?:PATH|DIRECTORY)\b/.test(rest) ? 'look' : 'read'
}

/** A program that starts. A program that is not found at one place of PATH counts as a file that was looked for. */
function start(pid: number, rest: string, before: string, { programs }: State): readonly Touched[] {
  const path = /^"([^"]*)"/.exec(rest)?.[1] ?? ''
  if (/ = -1 /.test(rest)) return before === 'node' ? [['look', path]] : []
  programs.set(pid, path)
  return before === 'node' ? [['program', basename(path)]] : []
}

/** A process that is not known yet is the child of a call that has not returned, or the first process. */
function noteNew(pid: number, { programs, forking }: State): void {
  const parent = forking.at(-1)
  if (!programs.has(pid) && parent !== undefined) programs.set(pid, programs.get(parent) ?? 'node')
}

function noteChild(pid: number, rest: string, { programs, groups }: State): void {
  const child = Number(/ = (\d+)(?:<[^>]*>)?$/.exec(rest)?.[1])
  if (!(child > 0)) return
  // A child that has started a program before this call returned keeps it.
  if (!programs.has(child)) programs.set(child, programs.get(pid) ?? 'node')
  groups.set(child, rest.includes('CLONE_THREAD') ? (groups.get(pid) ?? pid) : child)
}

/** A call that another process interrupted: its result is on a later line. */
function noteResumed(line: string, state: State): void {
  const [, digits, name = '', rest = ''] = /^(\d+) +<\.\.\. (\w+) resumed>(.*)$/.exec(line) ?? []
  if (digits === undefined) return
  if (/^v?fork$|^clone3?$/.test(name)) {
    state.forking.splice(state.forking.lastIndexOf(Number(digits)), 1)
    noteChild(Number(digits), rest, state)
  } else noteDescriptor(Number(digits), rest, state)
}

function noteDescriptor(pid: number, rest: string, { groups, descriptors }: State): void {
  const [, descriptor, path] = / = (\d+)<(\/[^>]*)>$/.exec(rest) ?? []
  if (path !== undefined) descriptors.set(`${groups.get(pid) ?? pid} ${descriptor}`, path)
}

function pathsIn(pid: number, rest: string, { groups, descriptors }: State): readonly string[] {
  return [...rest.matchAll(pathArgument)].flatMap(([, folder, name = '']) => {
    if (!name.startsWith('/') && folder === undefined) return []
    const own = `/proc/${groups.get(pid) ?? pid}/`
    const path = posix.resolve('/', folder ?? '', name).replace(/^\/\//, '/').replace(own, '/proc/self/')
    const [, descriptor = '', below = ''] = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/.exec(path) ?? []
    const opened = descriptors.get(`${groups.get(pid) ?? pid} ${descriptor}`)
    return [opened === undefined ? path : posix.join(opened, below)]
  })
}
