/**
 * The tool `terminal`: a persistent shell for the built-in agent (contract/payloads.md, TerminalAction).
 *
 * This file describes the tool to the model, checks arguments and makes the observation. `workspace/terminal` runs the
 * shell.
 */
import type { JsonObject } from '../../../base/json.ts'
import type { Observation } from '../../../schema/generated/observations.ts'
import { toObservation } from '../../../schema/generated/observations.ts'
import { isTerminalAction, toTerminalAction } from '../../../schema/generated/actions.ts'
import { Terminal, type TerminalOptions, type TerminalResult } from '../workspace/terminal.ts'
import { actionOf, type ReadResult, type Tool } from '../../../agents/tool.ts'

export interface TerminalToolOptions extends TerminalOptions {
  /** Returns the values of the secrets that a command names, by variable name. The values are masked from then on. */
  readonly secretsFor: (command: string, signal: AbortSignal) => Promise<Readonly<Record<string, string>>>
  readonly hostname: string
}

export function createTerminalTool(options: TerminalToolOptions): Tool & { close(): Promise<void> } {
  const terminal = new Terminal(options)
  return {
    name: 'terminal',
    description,
    parameters,
    definition: {
      kind: 'TerminalTool',
      description,
      action_type: 'TerminalAction',
      observation_type: 'TerminalObservation',
      annotations: {
        title: 'terminal', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true,
      },
      title: 'terminal',
    },
    isReadOnly: false,
    read,
    async run(action, { signal }) {
      const { command, is_input: isInput, timeout, reset } = actionOf(action, 'TerminalAction')
      const env = isInput ? {} : await options.secretsFor(command, signal)
      const timeoutMs = timeout === undefined ? undefined : Math.round(timeout * 1000)
      const result = await terminal.run({ command, isInput, timeoutMs, reset, env, signal })
      return observe(command, result, options)
    },
    turnStopped: (signal) => terminal.turnStopped(signal),
    close: () => terminal.close(),
  }
}

function read(args: JsonObject): ReadResult {
  const unknown = Object.keys(args).filter((name) => !Object.hasOwn(properties, name))
  if (unknown.length > 0) {
    return problem(`unknown parameter ${unknown.map((name) => JSON.stringify(name.slice(0, 64))).join(', ')}`)
  }
  const candidate = { ...args, kind: 'TerminalAction' }
  if (!isTerminalAction(candidate)) {
    return problem(
      'expected command as a string, is_input and reset as booleans, timeout as a number of seconds from 0',
    )
  }
  const action = toTerminalAction(candidate)
  if (action.command.includes('\0')) return problem('command holds a NUL character')
  if (action.reset && action.is_input) return problem('reset and is_input cannot be true together')
  return { ok: true, action }
}

function problem(text: string): ReadResult {
  return { ok: false, problem: text }
}

/**
 * Returns the observation of a call. The metadata member `suffix` holds the note on how the call ended, and the path of
 * the output file, if any. The content is the output; for a refused call it is the suffix.
 */
function observe(
  command: string, result: TerminalResult, { hostname, observationsDir }: TerminalToolOptions,
): Observation {
  const { output, note, exitCode, isTimeout, isRefused, file, report } = result
  const suffix = `[${file === undefined ? note : `${note} The whole output is in ${file}.`}]`
  const text = isRefused ? suffix : output
  return toObservation({
    kind: 'TerminalObservation',
    content: text === '' ? [] : [{ type: 'text', text }],
    is_error: isRefused,
    command,
    exit_code: exitCode ?? null,
    timeout: isTimeout,
    metadata: {
      exit_code: exitCode ?? -1,
      pid: report?.pid ?? -1,
      username: report === undefined || report.username === '' ? null : report.username,
      hostname,
      working_dir: report?.workingDir ?? null,
      py_interpreter_path: report === undefined || report.python === '' ? null : report.python,
      suffix,
    },
    full_output_save_dir: file === undefined ? null : observationsDir,
  })
}

const description = `Runs a command in a persistent bash shell on a pseudo-terminal.

State: the working folder, variables, functions, aliases and background jobs stay from one call to the next. The shell \
starts in the workspace. set -e, -x and -v last for one command only. Pagers are off for programs that page by \
themselves.

One at a time: while a command runs, no other is started. A command may be a script of several lines, with \
here-documents. Start servers and other long work in the background (\`server > server.log 2>&1 &\`) and look at the \
log afterwards.

When a call returns: as soon as the command has ended; or when it has printed nothing for 30 seconds; or, if you set \
timeout, after that many seconds, however silent or busy the program is. In the last two cases the exit code is -1 and \
the program keeps running. Then
- read on: call again with an empty command, and with a timeout if you want to wait longer than for the next pause;
- answer it: set is_input to true and put the text into command; Enter is pressed after it;
- press a key: set is_input to true and name it in command: C-c, C-d, C-z or C- with another letter, UP, DOWN, LEFT, \
RIGHT, HOME, END, PGUP, PGDN, TAB, ESC, BS, ENTER. No Enter follows a key;
- if it does not react to C-c, set reset to true: the shell and everything it started are ended, and a new shell \
starts (its variables and folder are lost) before the command runs.

Output: plain text without colours; of a very long output you get the beginning and the end, and the path of a file \
with all of it. Values of secrets are shown as <secret-hidden>. A secret that you were told of is in the environment \
of a command that contains its name, e.g. \`curl -H "Authorization: Bearer $API_TOKEN" ...\`, and gone afterwards.

Do not end the shell with exit. Prefer commands that ask nothing (\`-y\`, \`--no-input\`). To look for files and to \
read or change them, use the tools made for that where you have them.`

const properties = {
  command: {
    type: 'string',
    description:
      'The command to run. Empty: read more output of the command that runs. With is_input: text to type, or the ' +
      'name of a key.',
  },
  is_input: {
    type: 'boolean',
    description: 'True: command is input for the program that runs, not a new command. Default false.',
  },
  timeout: {
    type: 'number',
    minimum: 0,
    description:
      'Seconds after which the call returns even if the command goes on. Without it: after 30 seconds without output.',
  },
  reset: {
    type: 'boolean',
    description:
      'True: end the shell and all it started, and begin with a new one. Not together with is_input. Default false.',
  },
} as const satisfies JsonObject

const parameters: JsonObject = { type: 'object', properties, required: ['command'], additionalProperties: false }
