/**
 * Makes the scripts that bash runs: at its start, for each command, and at each prompt.
 *
 * Commands are sourced from files, because a typed line is cut at 4,096 bytes (termios(3), canonical mode). After a
 * command, the script of the prompt writes a report into a file and a mark into the output (ECMA-48, 8.3.89, operating
 * system command). The scripts also work after a command has changed the shell, for example by `set -u` or aliases.
 */
import { join } from 'node:path'
import { isLoaderVariable } from '../../../base/loader-variable.ts'

/** Returns the paths of the files in the shell's private folder. */
export function shellFiles(folder: string) {
  return {
    /** The script of the current command. */
    command: join(folder, 'command'),
    /** The script that runs at each prompt. */
    prompt: join(folder, 'prompt'),
    /** The script that undoes the export of a command's secrets: it unsets variables or restores their old values. */
    restore: join(folder, 'restore'),
    /** The report on a command. `nonce` is the random word that identifies the command. */
    report: (nonce: string) => join(folder, `report-${nonce}`),
  }
}

/** The command line that starts bash from sh(1). */
export const bashLine = 'exec bash --norc --noprofile --noediting -i'

/** The size of the terminal: wide, so that few programs wrap lines. */
const size = 'rows 50 cols 200'

/** Variables that turn pagers off, and give Python its plain prompt. */
const quietPrograms = 'PAGER=cat GIT_PAGER=cat MANPAGER=cat PYTHON_BASIC_REPL=1'

/** Returns the script that a new shell runs first. The report at the next prompt tells that the shell is ready. */
export function startScript(folder: string, nonce: string): string {
  const { prompt } = shellFiles(folder)
  return lines([
    `${variable.nonce}=${nonce}`,
    // The braces with the redirection hide the trace of `set -x`.
    `${variable.prompt}=${quote(`{ . ${quote(prompt)}; } 2>/dev/null`)}`,
    prompts,
    'unset HISTFILE MAILCHECK TMOUT',
    'set +o history +o histexpand',
    `export SHELL="$BASH" TERM=xterm ${quietPrograms}`,
    `stty sane -echo ${size} 2>/dev/null`,
  ])
}

/**
 * Returns the script that runs a command. The script exports the variables `env` for the command, except names that
 * `mayExport` refuses.
 */
export function commandScript(options: {
  readonly folder: string
  readonly nonce: string
  readonly command: string
  readonly env: Readonly<Record<string, string>>
}): string {
  const { folder, nonce, command, env } = options
  const files = shellFiles(folder)
  const restore = quote(files.restore)
  const secrets = Object.entries(env).filter(([name]) => mayExport(name))
  const preparation = [
    `${variable.nonce}=${nonce}`,
    // Remove the command file, because it holds secrets. Bash reads a sourced file whole before it runs a line.
    ...(secrets.length === 0 ? [] : [`\\command rm -f ${quote(files.command)}`]),
    ...secrets.flatMap(([name, value]) => [
      `{ \\builtin echo unset ${name}; \\builtin declare -p ${name}; } >>${restore} 2>/dev/null`,
      `\\builtin export ${name}=${quote(value)}`,
    ]),
    // Set `$?` to the exit status of the previous command.
    `[[ \${${variable.status}-0} == 0 ]] || (exit "$${variable.status}")`,
  ]
  return lines([
    // `eval` is in line 1 of the script, so that bash's messages number the lines of the command from 1.
    [...preparation, `\\builtin eval ${quote(command)}`].join('; '),
    // Set the prompt variables again: the command may have changed them. The redirection hides the trace of `set -x`.
    `{ ${variable.status}=$?; ${prompts}; \\builtin return "$${variable.status}"; } 2>/dev/null`,
  ])
}

function mayExport(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !isLoaderVariable(name)
}

/**
 * Returns the script that runs at each prompt. It reports the end of each command once, and discards input that the
 * command has not read, because bash would run the input as commands.
 */
export function promptScript(folder: string, isTerminal: boolean): string {
  const restore = quote(shellFiles(folder).restore)
  const input = isTerminal ? '</dev/tty' : ''
  const output = isTerminal ? '>/dev/tty' : ''
  return lines([
    `${variable.status}=$?`,
    '\\builtin set +evx',
    `if [[ -n \${${variable.nonce}-} ]]; then`,
    `  ${prompts}`,
    `  if [[ -f ${restore} ]]; then \\builtin . ${restore}; \\command rm -f ${restore}; fi`,
    isTerminal ? '  \\command stty sane -echo </dev/tty' : '',
    `  while \\builtin read -r -t 0 ${input} && \\builtin read -r -t 0.1 -N 4096 _ ${input}; do :; done`,
    `  \\builtin printf '%s\\0' "$${variable.status}" "\${!:--1}" "$PWD" "$(\\builtin type -P python3)" \\`,
    '    "${USER:-${LOGNAME:-$(\\command id -un 2>/dev/null)}}" \\',
    `    >${quote(join(folder, 'report-'))}"$${variable.nonce}"`,
    `  \\builtin printf '\\e]${markPrefix}%s;%s\\a' "$${variable.nonce}" "$${variable.status}" ${output}`,
    `  \\builtin unset ${variable.nonce}`,
    'fi',
  ])
}

/** The prefix of the mark after a command's output. The mark is an OSC escape sequence (ECMA-48, 8.3.89). */
export const markPrefix = 'agent-server;'

export interface ShellReport {
  readonly exitCode: number
  /** The process id of the last background job; -1 when there was none, or when it is unknown. */
  readonly pid: number
  readonly workingDir: string
  /** The path of python3; empty when the PATH has none, or when it is unknown. */
  readonly python: string
  /** The name of the user; empty when the system has none, or when it is unknown. */
  readonly username: string
}

/** Returns the exit status in the end mark of the command with this nonce; undefined for any other mark. */
export function statusIn(mark: string, nonce: string): number | undefined {
  const [own, status = ''] = mark.split(';')
  return own === nonce && /^\d{1,3}$/.test(status) ? Number(status) : undefined
}

/** Parses the text of a report file; undefined when the text is incomplete. */
export function parseReport(text: string): ShellReport | undefined {
  const [status, pid, workingDir, python, username, end] = text.split('\0')
  if (end === undefined || workingDir === undefined || python === undefined || username === undefined) return undefined
  return { exitCode: Number(status), pid: Number(pid), workingDir, python, username }
}

/** Returns the text quoted as one word for bash. The text must not contain NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** The names of the scripts' shell variables. The scripts do not export them. */
const variable = {
  nonce: '__agent_server_nonce',
  status: '__agent_server_status',
  prompt: '__agent_server_prompt',
} as const

/** The assignments that hide the prompts and make bash run the prompt script. */
const prompts = `PROMPT_COMMAND=$${variable.prompt} PS1= PS2=`

function lines(list: readonly string[]): string {
  return `${list.filter((line) => line !== '').join('\n')}\n`
}
