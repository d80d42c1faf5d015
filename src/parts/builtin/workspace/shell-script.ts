/**
 * What bash is told: once when it starts, before each command, and at each prompt.
 *
 * Commands are sourced from files, because a line that is typed is cut at 4,096 bytes (termios(3), canonical mode)
 * and would be echoed. That a command has ended is known from the prompt, which comes whatever happened to the
 * command: the prompt's script writes a report into a file and then marks the place in the output with an operating
 * system command (ECMA-48, 8.3.89) that carries the command's own nonce, and its exit status for the case that no
 * file can be written. The scripts hold against what commands do to the shell: other settings of the terminal,
 * redirected streams, `set -u`, aliases.
 */
import { join } from 'node:path'
import { isLoaderVariable } from '../../../base/loader-variable.ts'

/** Files in the shell's private folder. */
export function shellFiles(folder: string) {
  return {
    /** Sourced for each command. */
    command: join(folder, 'command'),
    /** Sourced at each prompt. */
    prompt: join(folder, 'prompt'),
    /** Made by a command that was given secrets: what takes them away again. */
    restore: join(folder, 'restore'),
    report: (nonce: string) => join(folder, `report-${nonce}`),
  }
}

/** The line that starts bash, for sh(1). */
export const bashLine = 'exec bash --norc --noprofile --noediting -i'

/** Rows and columns of the terminal: wide, so that few programs break their lines. */
const size = 'rows 50 cols 200'

/** What makes programs print instead of asking to be paged. */
const quietPrograms = 'PAGER=cat GIT_PAGER=cat MANPAGER=cat PYTHON_BASIC_REPL=1'

/** The first command of a shell: it is reported as ended once the shell is ready. */
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
 * Runs a command with these variables exported for as long as it runs; without those that bash cannot have, and those
 * that no secret may be called (base/loader-variable).
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
    // Bash has read the whole file by now.
    ...(secrets.length === 0 ? [] : [`\\command rm -f ${quote(files.command)}`]),
    ...secrets.flatMap(([name, value]) => [
      `{ \\builtin echo unset ${name}; \\builtin declare -p ${name}; } >>${restore} 2>/dev/null`,
      `\\builtin export ${name}=${quote(value)}`,
    ]),
    // So that a command can ask how the one before has ended.
    `[[ \${${variable.status}-0} == 0 ]] || (exit "$${variable.status}")`,
  ]
  return lines([
    // On one line, so that bash counts the command's own lines in its messages.
    [...preparation, `\\builtin eval ${quote(command)}`].join('; '),
    // Whatever the command has made of them; the group hides the trace of `set -x`.
    `{ ${variable.status}=$?; ${prompts}; \\builtin return "$${variable.status}"; } 2>/dev/null`,
  ])
}

function mayExport(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !isLoaderVariable(name)
}

/** Reports, once for each nonce. Left-over input is thrown away, or bash would take it for commands. */
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
    `    >${quote(join(folder, 'report-'))}"$${variable.nonce}"`,
    `  \\builtin printf '\\e]${markPrefix}%s;%s\\a' "$${variable.nonce}" "$${variable.status}" ${output}`,
    `  \\builtin unset ${variable.nonce}`,
    'fi',
  ])
}

/** Begins the operating system command that marks the end of a command's output. */
export const markPrefix = 'agent-server;'

export interface ShellReport {
  readonly exitCode: number
  /** Of the last job in the background; -1 without one. */
  readonly pid: number
  readonly workingDir: string
  /** Empty without a Python. */
  readonly python: string
}

/** The exit status in a mark of this command; undefined for another's, and for one that the prompt has not made. */
export function statusIn(mark: string, nonce: string): number | undefined {
  const [own, status = ''] = mark.split(';')
  return own === nonce && /^\d{1,3}$/.test(status) ? Number(status) : undefined
}

/** Undefined while it is not written to its end. */
export function parseReport(text: string): ShellReport | undefined {
  const [status, pid, workingDir, python, end] = text.split('\0')
  if (end === undefined || workingDir === undefined || python === undefined) return undefined
  return { exitCode: Number(status), pid: Number(pid), workingDir, python }
}

/** One word for bash, whatever is in it but NUL. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Of the shell, never exported. */
const variable = {
  nonce: '__agent_server_nonce',
  status: '__agent_server_status',
  prompt: '__agent_server_prompt',
} as const

/** No prompt is shown, and each runs our script. */
const prompts = `PROMPT_COMMAND=$${variable.prompt} PS1= PS2=`

function lines(list: readonly string[]): string {
  return `${list.filter((line) => line !== '').join('\n')}\n`
}
