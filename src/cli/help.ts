/**
 * The texts of `--help`. That of the options is made from their table, so that it cannot say anything else than the
 * program does. Plain text of at most 104 columns, nothing decided by the terminal.
 */
import type { Option } from '../option.ts'
import { entries, variableOf, type Entry } from './options.ts'

const intro = `Usage: agent-server [serve] [options]                    run the server
       agent-server verify [--json] [options] [ID ...]  check what is stored, beside a server too
       agent-server verify [options] --expect HEAD ID   and that the log still goes through that head
       agent-server agents list|install|verify|remove   the agents' programs; see agents --help
       agent-server doctor [options] [NAME ...]         say what works here; see doctor --help

Each option can also be given as the variable named below it, or in a JSON file (--config FILE)
under its name, as in {"port": 8001, "allowedHosts": ["agents.example.org"]}. A flag beats a variable,
that beats the file, that beats the default. Options marked with * may be repeated; of these, variables
that hold names take several, with commas between.
`

const outro = `Other
  --config FILE                 JSON file with options
                                AGENT_SERVER_CONFIG
  -h, --help                    Show this text
  --version                     Show the version

Keys are also taken from SESSION_API_KEY, OH_SESSION_API_KEYS_0, _1, ... and OH_SECRET_KEY.

Exit codes
  0  ended as asked             3  cannot listen, for instance because the port is in use
  1  failed                     4  another server owns the data folder
  2  cannot use the options     5  cannot use the data folder: its format or its permissions

Examples
  agent-server
  agent-server --port 0 --data-dir ./data --workspace-dir ./work
  agent-server --host 0.0.0.0 --session-api-key-file /run/secrets/key --allowed-host agents.example.org
`

const agents = `Usage: agent-server agents list [--json]                     what is installed
       agent-server agents install NAME [--version VERSION]  install an agent with npm
       agent-server agents verify [NAME ...]                 compare every file with its digest
       agent-server agents remove NAME                       remove an installed agent

NAME is a provider: claude-code, codex, gemini-cli, or one of the providers file. Without --version
the pinned version is installed, the one this server was tried with. No script of a package is run.
The digest of every file is kept, and an agent whose files have changed is not started any more. When
verify finds every digest right, the files count as installed again, also after a restored backup.

All of it can be done while a server runs: agents that run go on, the next ones start what is
installed then. Files that a running server may still use are removed when it starts again.

Folders, providers and the configuration file are told as to the server (--data-dir, --providers,
--config; see agent-server --help).

Exit codes
  0  done, and everything is as it was installed     2  cannot use the options
  1  failed, or something differs or is missing      4  another command changes the installed agents
`

const doctor = `Usage: agent-server doctor [options] [NAME ...]

Says in one line each what is here and what to do: Node, the data folder, what ends processes, the
pseudo-terminal, and each agent: is it installed, is there a login or a key (names only), and does its
program answer. It changes nothing in the data folder, and can be used while a server runs there. The
programs are started as the server starts them; what they write into the home folder is up to them.

  --json                        The same as a JSON array, for programs

With names of providers only these are tried, and they are expected to work.

Exit codes
  0  a server can run here, and every agent that was named works
  1  it cannot, or one does not
  2  cannot use the options
`

const texts: Readonly<Record<string, string>> = { agents, doctor }

/** Where the description of a flag begins. */
const column = 32

/** Of one subcommand; the options where that has no text of its own. */
export function formatHelp(command = 'serve'): string {
  return texts[command] ?? formatOptions()
}

function formatOptions(): string {
  const groups = new Map<string, string[]>()
  for (const entry of entries) {
    const lines = groups.get(entry.option.group) ?? []
    groups.set(entry.option.group, [...lines, ...describe(entry)])
  }
  const blocks = [...groups].map(([group, lines]) => `${group}\n${lines.join('\n')}\n`)
  return [intro, ...blocks, outro].join('\n')
}

function describe({ flag, option, isFile, name }: Entry): string[] {
  const keys = option.kind === 'list' ? 'such keys, one in a line' : 'that key'
  const help = isFile ? `File that holds ${keys}` : option.help
  const star = !isFile && (option.kind === 'list' || option.kind === 'map') ? ' *' : ''
  const left = `  --${flag} ${isFile ? 'FILE' : option.placeholder}${star}`
  const notes = isFile ? [] : [defaultOf(name, option), option.placeholder === 'MS' ? undefined : option.range]
  const more = wrap([...notes, variableOf(flag)].filter((note) => note !== undefined).join('; '))
  const lines = [...wrap(help), ...more].map((text) => ' '.repeat(column) + text)
  const [first = '', ...rest] = lines
  return left.length < column ? [left + first.slice(left.length), ...rest] : [left, ...lines]
}

function defaultOf(name: string, { initial, placeholder }: Option<unknown>): string | undefined {
  if (name === 'dataDir') return 'default $XDG_DATA_HOME/agent-server or ~/.local/share/agent-server'
  if (name === 'workspaceDir') return 'default $XDG_STATE_HOME/agent-server/workspaces or under ~/.local/state'
  if (typeof initial === 'string') return `default ${initial}`
  return typeof initial === 'number' ? `default ${initial}${inUnits(initial, placeholder)}` : undefined
}

const units: Readonly<Record<string, readonly (readonly [size: number, word: string])[]>> = {
  BYTES: [[1024 * 1024, 'MiB'], [1024, 'KiB']],
  MS: [[60_000, 'min'], [1000, 's']],
}

/** ` (20 min)`: what a reader thinks in, after what the flag takes. */
function inUnits(value: number, placeholder: string): string {
  const unit = units[placeholder]?.find(([size]) => value % size === 0)
  return unit === undefined ? '' : ` (${value / unit[0]} ${unit[1]})`
}

function wrap(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || column + last.length + word.length >= 100) lines.push(word)
    else lines.push(`${lines.pop() ?? ''} ${word}`)
  }
  return lines
}
