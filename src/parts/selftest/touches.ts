/**
 * What a running server touches: files, programs and addresses. SECURITY.md shows this list.
 *
 * A name is a path, a program or an address. Braces stand for a folder of `Places`, or for another value, such as
 * `{port}`. `*` stands for any characters except a slash, `/**` for a folder with everything in it. The list is for a
 * server on Linux. Rows with `isAsked` need a request or an option. Files that child programs open are left out.
 */
import { join } from 'node:path'

export interface Touch {
  readonly kind: 'read' | 'change' | 'program' | 'address'
  readonly name: string
  readonly why: string
  /** True for a file that Node or the C library opens by itself. */
  readonly isNode?: true
  /** True for a row that applies only when a request or an option asks for it. */
  readonly isAsked?: true
}

/** The folders that `{data}` etc. in a row stand for. `{above}`: each folder above `program`, `work`, `workingDir`. */
export interface Places {
  readonly data: string
  readonly work: string
  readonly program: string
  readonly home: string
  /** The folders of PATH. */
  readonly path: readonly string[]
  /** The folder that the variable XDG_RUNTIME_DIR names. */
  readonly runtime?: string
  /** A workspace outside of `work` that a request names. Without this member, rows with `isAsked` are left out. */
  readonly workingDir?: string
}

export const touches: readonly Touch[] = [
  { kind: 'change', name: '{data}/**', why: 'the data folder' },
  { kind: 'change', name: '{work}/**', why: 'workspaces of conversations; a new one becomes a git repository' },
  { kind: 'change', name: '{runtime}/agent-server-*/**', why: 'lent credentials and the files of shells, in memory' },
  { kind: 'change', name: '/dev/shm/agent-server-*/**', why: 'the same, without a {runtime} in memory' },
  { kind: 'change', name: '/sys/fs/cgroup/**/agent-server.*/**', why: 'a cgroup for each program, where it may' },
  { kind: 'change', name: '/dev/null', why: 'output that nobody reads' },
  { kind: 'read', name: '{data}/..', why: 'the folder of the data folder, synced when the data folder is made' },
  { kind: 'read', name: '{program}/**', why: 'the program: its modules, and the page of the console' },
  { kind: 'read', name: '{above}/package.json', why: 'Node looks for the type of modules', isNode: true },
  { kind: 'read', name: '{above}/.git', why: 'is there a repository above a workspace?' },
  { kind: 'read', name: '/proc/*/stat', why: 'all processes of the machine: which of them an agent has started' },
  { kind: 'read', name: '/proc/*/environ', why: 'the marker of this server; as root, of all processes' },
  { kind: 'read', name: '/proc/self/**', why: 'own descriptors (opening a file below a folder), cgroup, mounts' },
  { kind: 'read', name: '/sys/fs/cgroup/**', why: 'where a cgroup may be made' },
  { kind: 'read', name: '{runtime}', why: 'is it in memory? Folders of servers that were killed' },
  { kind: 'read', name: '/dev/shm', why: 'the same' },
  { kind: 'read', name: '{path}/*', why: 'is a program there?' },
  { kind: 'read', name: '{home}/.claude/**', why: 'is there a login of Claude Code?' },
  { kind: 'read', name: '{home}/.codex/**', why: 'is there a login of Codex? With CODEX_HOME: there' },
  { kind: 'read', name: '{home}/.gemini/**', why: 'is there a login of Gemini CLI? With GEMINI_CLI_HOME: there' },
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
  { kind: 'program', name: 'script', why: 'gives a shell of the built-in agent a terminal' },
  { kind: 'program', name: 'python3', why: 'the same, where `script` cannot' },
  { kind: 'program', name: 'bash', why: 'commands of the built-in agent' },
  { kind: 'program', name: 'sh', why: 'commands of the demonstration agent; the shell that `script` starts' },
  { kind: 'address', name: '127.0.0.1:{port}', why: 'the port of the server (--host, --port)' },
  {
    kind: 'change', name: '{working_dir}/**',
    why: 'the working folder that a request names: made if missing, a git repository if it is in none', isAsked: true,
  },
  { kind: 'change', name: '{files}', why: 'any file that a request with the right `files` names', isAsked: true },
  { kind: 'change', name: '{options}', why: 'logs, backups and other files that an option names', isAsked: true },
  { kind: 'read', name: '{home}/.agents/**', why: 'skills, sub-agents and plugins of the user', isAsked: true },
  { kind: 'read', name: '{home}/.openhands/**', why: 'the same', isAsked: true },
  { kind: 'program', name: '{agent}', why: 'the command of the settings; with --allow-npx, npx', isAsked: true },
  { kind: 'program', name: '{mcp}', why: 'the command of an MCP server', isAsked: true },
  { kind: 'program', name: 'sh', why: '/bin/sh for clients, hooks and npm; sh of PATH for git', isAsked: true },
  { kind: 'program', name: 'git', why: 'changes and commits; worktrees; skills and plugins', isAsked: true },
  { kind: 'program', name: 'npm', why: 'installs agents', isAsked: true },
  { kind: 'program', name: '{browser}', why: 'Chromium of PATH, or of --browser', isAsked: true },
  { kind: 'address', name: '127.0.0.1:{gate}', why: 'a port for each browser: its way to the network', isAsked: true },
]

/** Returns the first row of `touches` that has one of the kinds and whose name fits `path`; undefined if none does. */
export function findTouch(kinds: readonly Touch['kind'][], path: string, places: Places): Touch | undefined {
  const isNamed = (name: string): boolean => namesOf(name, places).some((full) => patternOf(full).test(path))
  return touchesIn(places).find(({ kind, name }) => kinds.includes(kind) && isNamed(name))
}

/** Returns the rows of `touches`. Leaves out the rows with `isAsked` if `workingDir` is undefined. */
export function touchesIn({ workingDir }: Places): readonly Touch[] {
  return touches.filter(({ isAsked }) => isAsked === undefined || workingDir !== undefined)
}

/** Returns a path for each folder that a leading `{...}` of the name stands for. A name without braces stays as is. */
export function namesOf(name: string, places: Places): readonly string[] {
  const { data, work, program, home, path, runtime, workingDir } = places
  const given = (folder: string | undefined): readonly string[] => (folder === undefined ? [] : [folder])
  const [brace = '', word] = /^\{([a-z_]+)\}/.exec(name) ?? []
  const below = (folders: readonly string[]): readonly string[] => {
    return folders.map((folder) => join(folder, name.slice(brace.length)))
  }
  switch (word) {
    case undefined: return [name]
    case 'data': return below([data])
    case 'work': return below([work])
    case 'program': return below([program])
    case 'home': return below([home])
    case 'path': return below(path)
    case 'runtime': return below(given(runtime))
    case 'working_dir': return below(given(workingDir))
    case 'above': return below([program, work, ...given(workingDir)].flatMap((folder) => {
      return [...folder.matchAll(/\//g)].map(({ index }) => folder.slice(0, index))
    }))
    default: return []
  }
}

function patternOf(name: string): RegExp {
  const source = name.split(/(\/\*\*|\*)/).map((piece) => {
    if (piece === '/**') return '(?:/.*)?'
    return piece === '*' ? '[^/]*' : piece.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
  }).join('')
  return new RegExp(`^${source}$`)
}
