/** Makes the `--help` texts from the table of options. */
import { allParts } from '../all-parts.ts'
import type { Option } from '../option.ts'
import { helpTexts } from './help-texts.ts'
import { entries, membersOf, variableOf, type Entry } from './options.ts'
import { formatRows } from '../base/rows.ts'

const partCommands = new Map(allParts.flatMap(({ commands = {} }) => Object.entries(commands)))

const partUsages = [...partCommands.values()]
  .map(({ usage: [usage, about] }) => `       agent-server ${usage.padEnd(36)}${about}\n`)
  .join('')

const intro = `Usage: agent-server [serve] [options]                    run the server
       agent-server verify [--json] [options] [ID ...]  check the stored data; a server may be running
       agent-server verify [options] --expect HEAD ID   and check that the log contains that head
${partUsages}       agent-server config [--json] [options]           every option, its value and its source
       agent-server key [--show]                        where the session key is, or the key
       agent-server help [COMMAND|config]               a command's own text, or the names in a file

Each option can also be given as the variable named below it, or in a JSON file (--config FILE)
under its name, as in {"port": 8001, "allowedHosts": ["agents.example.org"]}; see --help config. A flag
beats a variable, which beats the file, which beats the default. Options marked with * may be repeated;
in a variable, several names are separated by commas.
`

const serve = `Usage: agent-server serve [options]

Runs the server until SIGTERM, SIGINT or SIGHUP (a closed terminal): it pauses running conversations,
ends their agents and exits. After SIGTERM runs may first finish for --drain-seconds, while new work gets
503 and /ready says so. A second signal ends it at once. It prints its address when it is ready; its
log goes to standard error, or to --log-file: then SIGHUP opens the file again instead, for a rotation.
Each option can also be given as a variable or in a file; see agent-server --help.
`

const config = `Usage: agent-server config [--json] [options]

Prints every option with its value and the source of the value: a flag, a variable, a member of the
configuration file, or the default. It reads no data folder, and prints no secret.

  --json                        Print the result as JSON, for programs

Names in the JSON file of --config FILE (or AGENT_SERVER_CONFIG), as in
{"port": 8001, "allowedHosts": ["agents.example.org"]}. Paths are relative to its folder. For the
meaning and the values of each, see its flag in agent-server --help.
`

const outro = `Other
  --config FILE                 JSON file with options
                                AGENT_SERVER_CONFIG
  -h, --help                    Show this text
  --version                     Show the version

Keys are also taken from SESSION_API_KEY, OH_SESSION_API_KEYS_0, _1, ... and OH_SECRET_KEY,
and --deferred-init from OH_DEFERRED_INIT.

Exit codes
  0  ended as asked             3  cannot listen, for instance because the port is in use
  1  failed                     4  another server owns the data folder
  2  cannot use the options     5  cannot use the data folder: its format or its permissions

Examples
  agent-server
  agent-server --port 0 --data-dir ./data --workspace-dir ./work
  agent-server --host 0.0.0.0 --session-api-key-file /run/secrets/key --allowed-host agents.example.org
`

/** The column, counted from 0, at which the description of a flag begins. */
const column = 32

/** The words that `--help` accepts as a topic. `--help` without a topic prints the text with all options. */
export const helpTopics: readonly string[] = ['serve', ...Object.keys(helpTexts), ...partCommands.keys(), 'config']

/** Returns the help text of a topic. Without a known topic, returns the text with all options. */
export function formatHelp(topic?: string): string {
  if (topic === 'config') return formatNames()
  const own = helpTexts[topic ?? ''] ?? partCommands.get(topic ?? '')?.help
  return own ?? formatOptions(topic === 'serve' ? serve : intro)
}

/** Returns the help on the configuration file, with a row for each member: its name, its form and any default. */
function formatNames(): string {
  const rows = entries.flatMap((entry) => {
    const [name = ''] = membersOf(entry)
    return [[`  ${name}`, shapeOf(entry), entry.isFile ? '' : (defaultOf(name, entry.option) ?? '')]]
  })
  return `${config}\n${formatRows(rows)}\n`
}

function shapeOf({ option, isFile }: Entry): string {
  if (isFile) return 'path of a file'
  switch (option.kind) {
    case 'switch': return 'true or false'
    case 'list': return `list of ${option.placeholder}`
    case 'map': return '{"NAME": "COMMAND"}'
    case 'path': return 'path'
    case 'value': return typeof option.initial === 'number' ? 'number' : 'text'
  }
}

function formatOptions(intro: string): string {
  const groups = new Map<string, string[]>()
  for (const entry of entries) {
    const lines = groups.get(entry.option.group) ?? []
    groups.set(entry.option.group, [...lines, ...describe(entry)])
  }
  const blocks = [...groups].map(([group, lines]) => `${group}\n${lines.join('\n')}\n`)
  return [intro, ...blocks, outro].join('\n')
}

function describe({ flag, option, isFile, name }: Entry): string[] {
  const value = `--${flag.replace(/-file$/, '')}`
  const file = `File with ${option.kind === 'list' ? `values of ${value}, one in a line` : `the value of ${value}`}`
  const help = isFile ? file : option.help
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

/** Returns the number in a larger unit, such as ` (20 min)`; an empty text if no larger unit divides the number. */
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
