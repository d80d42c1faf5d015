/**
 * What a running server touches: files, programs and addresses. SECURITY.md shows this list.
 *
 * A name is a path. Braces stand for the folders of `Places`, `*` for one name, `**` for any path below. The list is of
 * a server with its default options on Linux. The list leaves out what an agent or a command of the user touches.
 */
import { join } from 'node:path'

export interface Touch {
  readonly kind: 'read' | 'change' | 'program' | 'address'
  readonly name: string
  readonly why: string
  /** True for a file that Node or the C library opens. */
  readonly isNode?: true
}

/** The folders that names in braces stand for. */
export interface Places {
  readonly data: string
  readonly work: string
  /** The folder of the program's files. */
  readonly program: string
  readonly home: string
  /** The folders of PATH. */
  readonly path: readonly string[]
}

export const touches: readonly Touch[] = [
  { kind: 'change', name: '{data}/**', why: 'the data folder' },
  { kind: 'change', name: '{work}/**', why: 'workspaces of conversations; a new one becomes a git repository' },
  { kind: 'change', name: '/dev/shm/agent-server-*/**', why: 'lent credentials and the files of shells, in memory' },
  { kind: 'change', name: '/sys/fs/cgroup/**/agent-server.*/**', why: 'a cgroup for each program, where it may' },
  { kind: 'change', name: '/dev/null', why: 'output that nobody reads' },
  { kind: 'read', name: '{data}/..', why: 'the folder of the data folder, synced when the data folder is made' },
  { kind: 'read', name: '{program}/**', why: 'the program: its modules, and the page of the console' },
  { kind: 'read', name: '{above}/package.json', why: 'Node looks for the type of modules', isNode: true },
  { kind: 'read', name: '{above}/.git', why: 'is there a repository above a workspace?' },
  { kind: 'read', name: '/proc/*/stat', why: 'all processes of the machine: which of them an agent has started' },
  { kind: 'read', name: '/proc/*/environ', why: 'processes of the same user: the marker of this server' },
  { kind: 'read', name: '/proc/self/**', why: 'own descriptors (opening a file below a folder), cgroup, mounts' },
  { kind: 'read', name: '/sys/fs/cgroup/**', why: 'where a cgroup may be made' },
  { kind: 'read', name: '/dev/shm', why: 'folders of servers that were killed' },
  { kind: 'read', name: '{path}/*', why: 'is a program there? Only a program that is listed here is started' },
  { kind: 'read', name: '{home}/.claude/**', why: 'is there a login of Claude Code?' },
  { kind: 'read', name: '{home}/.codex/**', why: 'is there a login of Codex?' },
  { kind: 'read', name: '{home}/.gemini/**', why: 'is there a login of Gemini CLI?' },
  { kind: 'read', name: '/proc/meminfo', why: 'the size of the memory', isNode: true },
  { kind: 'read', name: '/proc/version_signature', why: 'the version of the kernel', isNode: true },
  { kind: 'read', name: '/sys/devices/system/cpu/**', why: 'the number of processors', isNode: true },
  { kind: 'read', name: '/etc/ssl/**', why: 'the settings of OpenSSL, and certificates', isNode: true },
  { kind: 'read', name: '/usr/**', why: 'Node itself, its libraries, the time zones', isNode: true },
  { kind: 'read', name: '/lib*/**', why: 'libraries', isNode: true },
  { kind: 'read', name: '/etc/ld.so.*', why: 'where libraries are', isNode: true },
  { kind: 'read', name: '/etc/localtime', why: 'the time zone', isNode: true },
  { kind: 'read', name: '/etc/nsswitch.conf', why: 'how names are resolved', isNode: true },
  { kind: 'read', name: '/etc/hosts', why: 'how names are resolved', isNode: true },
  { kind: 'read', name: '/etc/resolv.conf', why: 'how names are resolved', isNode: true },
  { kind: 'read', name: '/etc/netsvc.conf', why: 'how names are resolved', isNode: true },
  { kind: 'read', name: '/etc/svc.conf', why: 'how names are resolved', isNode: true },
  { kind: 'read', name: '/dev/urandom', why: 'random bytes', isNode: true },
  { kind: 'program', name: 'flock', why: 'locks the data folder at the start' },
  { kind: 'program', name: 'node', why: 'the demonstration agent and installed agents: the Node of the server' },
  { kind: 'program', name: 'git', why: 'routes of git; worktrees; skills and plugins' },
  { kind: 'program', name: 'script', why: 'gives a shell of the built-in agent a terminal' },
  { kind: 'program', name: 'bash', why: 'commands: of the built-in agent, of hooks, of clients' },
  { kind: 'program', name: 'sh', why: 'commands of the demonstration agent; what `script` starts' },
  { kind: 'program', name: 'python3', why: 'gives a shell a terminal where `script` cannot' },
  { kind: 'address', name: '127.0.0.1:{port}', why: 'the only port that is listened on (--host, --port)' },
]

/** Returns the row of one of these kinds that names the path, program or address, if any. */
export function findTouch(kinds: readonly Touch['kind'][], path: string, places: Places): Touch | undefined {
  const isNamed = (name: string): boolean => namesOf(name, places).some((full) => patternOf(full).test(path))
  return touches.find(({ kind, name }) => kinds.includes(kind) && isNamed(name))
}

/** Returns the names of a row with the folders in place of the braces. */
export function namesOf(name: string, places: Places): readonly string[] {
  if (name.startsWith('{path}')) return places.path.map((folder) => folder + name.slice('{path}'.length))
  if (name.startsWith('{above}')) {
    const ends = [places.program, places.work].flatMap((path) => {
      return [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index))
    })
    return ends.map((folder) => folder + name.slice('{above}'.length))
  }
  return [join(name
    .replace('{data}', places.data)
    .replace('{work}', places.work)
    .replace('{program}', places.program)
    .replace('{home}', places.home))]
}

function patternOf(name: string): RegExp {
  const source = name.split(/(\/\*\*|\*)/).map((piece) => {
    if (piece === '/**') return '(?:/.*)?'
    return piece === '*' ? '[^/]*' : piece.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
  }).join('')
  return new RegExp(`^${source}$`)
}
