/**
 * The scripts that bash runs: once at its start, for each command, and at each prompt.
 *
 * Commands are sourced from files, because a typed line is cut at 4,096 bytes (termios(3), canonical mode) and would be
 * echoed. The prompt shows that a command has ended, however it ended: the prompt's script writes a report into a file,
 * and then marks the place in the output with an operating system command (ECMA-48, 8.3.89). The mark carries the
 * command's nonce, and its exit status in case the file cannot be written. The scripts withstand changes that commands
 * make to the shell: other terminal settings, redirected streams, `set -u`, aliases.
 */
import { join } from 'node:path'
import { isLoaderVariable } from '../../../base/loader-variable.ts'

/** Files in the shell's private folder. */
export function shellFiles(folder: string) {
  return {
    /** The script of the current command. */
    command: join(folder, 'command'),
    /** The script that runs at each prompt. */
    prompt: join(folder, 'prompt'),
    /** Written by a command with secrets: the commands that restore the variables afterwards. */
    restore: join(folder, 'restore'),
    report: (nonce: string) => join(folder, `report-${nonce}`),
  }
}

/** The line that starts bash, for sh(1). */
export const bashLine = 'exec bash --norc --noprofile --noediting -i'

/** The size of the terminal: wide, so that few programs wrap lines. */
const size = 'rows 50 cols 200'

/** Variables that make programs print instead of starting a pager. */
const quietPrograms = 'PAGER=cat GIT_PAGER=cat MANPAGER=cat PYTHON_BASIC_REPL=1'

/** Returns the first script of a shell. The shell is ready once this script is reported as ended. */
export function startScript(folder: string, nonce: string): string {
  const { prompt } = shellFiles(folder)
  return lines([
    `${variable.nonce}=${nonce}`,
    // The group hides the trace of `set -x`.
    `${variable.prompt}=${quote(`{ . ${quote(prompt)}; } 2>/dev/null`)}`,
    prompts,
    'unset HISTFILE MAILCHECK TMOUT',
    'set +o history +o histexpand',
    `export SHELL="$BASH" TERM=xterm ${quietPrograms}`,
    `stty sane -echo ${size} 2>/dev/null`,
  ])
}

/**
 * Runs a command with these variables exported while it runs. Names that bash cannot have are left out, and so are
 * names that no secret may have (base/loader-variable).
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
    // By now bash has read the whole file, which holds secrets.
    ...(secrets.length === 0 ? [] : [`\\command rm -f ${quote(files.command)}`]),
    ...secrets.flatMap(([name, value]) => [
      `{ \\builtin echo unset ${name}; \\builtin declare -p ${name}; } >>${restore} 2>/dev/null`,
      `\\builtin export ${name}=${quote(value)}`,
    ]),
    // Sets `$?` to the status of the command before, so that this command can read it.
    `[[ \${${variable.status}-0} == 0 ]] || (exit "$${variable.status}")`,
  ]
  return lines([
    // On one line, so that line numbers in bash's messages are those of the command.
    [...preparation, `\\builtin eval ${quote(command)}`].join('; '),
    // The command may have changed the prompt variables. The group hides the trace of `set -x`.
    `{ ${variable.status}=$?; ${prompts}; \\builtin return "$${variable.status}"; } 2>/dev/null`,
  ])
}

function mayExport(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !isLoaderVariable(name)
}

/** The prompt's script: reports once for each nonce, and discards left-over input, which bash would run as commands. */
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

/** The prefix of the operating system command that marks the end of a command's output. */
export const markPrefix = 'agent-server;'

export interface ShellReport {
  readonly exitCode: number
  /** The process id of the last background job; -1 without one. */
  readonly pid: number
  readonly workingDir: string
  /** The path of python3; empty without one. */
  readonly python: string
  /** The name of the user; empty when the system has none. */
  readonly username: string
}

/** Returns the exit status in a mark of the prompt with this nonce; undefined for any other mark. */
export function statusIn(mark: string, nonce: string): number | undefined {
  const [own, status = ''] = mark.split(';')
  return own === nonce && /^\d{1,3}$/.test(status) ? Number(status) : undefined
}

/** Returns the report; undefined if the file is incomplete. */
export function parseReport(text: string): ShellReport | undefined {
  const [status, pid, workingDir, python, username, end] = text.split('\0')
  if (end === undefined || workingDir === undefined || python === undefined || username === undefined) return undefined
  return { exitCode: Number(status), pid: Number(pid), workingDir, python, username }
}

/** Returns the text quoted as one word for bash. It must not contain NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Names of shell variables, which are never exported. */
const variable = {
  nonce: '__agent_server_nonce',
  status: '__agent_server_status',
  prompt: '__agent_server_prompt',
} as const

/** Hides the prompts, and makes each prompt run our script. */
const prompts = `PROMPT_COMMAND=$${variable.prompt} PS1= PS2=`

function lines(list: readonly string[]): string {
  return `${list.filter((line) => line !== '').join('\n')}\n`
}
