/**
 * Judges whether the user should have been asked about a tool call that ran without permission (decisions 24). Pure.
 *
 * The evidence is the agent's own report. A permission covers only the input that was shown.
 */
import { isObject } from '../../../base/json.ts'
import { hasPathAndText } from './call-readiness.ts'
import { exitCodeOf } from './exit-code.ts'
import type { Shape } from './shape.ts'
import { diffsOf, type ToolCall } from './tool-calls.ts'

/** A call that ran, and whether it was allowed. */
export interface RanCall {
  /** The id of the call in events. */
  readonly id: string
  readonly call: ToolCall
  readonly shape: Shape
  /** `none`: neither allowed nor refused. `changed`: allowed with another input. `refused`: ran although refused. */
  readonly permission: 'none' | 'allowed' | 'changed' | 'refused'
}

/**
 * - `fine`: allowed, or a call that needs no question and was not refused.
 * - `let-through`: a command that the agent's mode runs without a question.
 * - `unclear`: not allowed with this input, and not known to change anything.
 * - `unasked`: refused, or not allowed with this input although it needed a question.
 */
export type Verdict = 'fine' | 'let-through' | 'unclear' | 'unasked'

/**
 * Judges a call that ran. `runsUnasked` has the first words of commands that the session's mode runs without a
 * question; `*` stands for every command.
 */
export function judgeRan({ call, shape, permission }: RanCall, runsUnasked: readonly string[]): Verdict {
  if (permission === 'allowed') return 'fine'
  const effect = effectOf(call, shape)
  if (permission === 'refused') return 'unasked'
  if (effect === 'none') return 'fine'
  if (permission === 'none' && shape.as === 'command' && isLetThrough(shape.command, runsUnasked)) return 'let-through'
  return effect
}

/** True when updates show that the call began to run. Of a failed call's `rawOutput`, only an exit code counts. */
export function hasRun(call: ToolCall): boolean {
  const { status, terminalOutput, rawOutput } = call
  if (status === 'completed' || terminalOutput !== '' || exitCodeOf(call) !== undefined) return true
  return status !== 'failed' && rawOutput !== undefined
}

type Effect = 'none' | 'unclear' | 'unasked'

function effectOf(call: ToolCall, shape: Shape): Effect {
  if (shape.as === 'edit' || shape.as === 'edits' || diffsOf(call).length > 0) return 'unasked'
  switch (call.kind) {
    case 'read':
    case 'search':
    case 'think':
    case 'switch_mode': return 'none'
    case 'execute':
    case 'edit':
    case 'delete':
    case 'move':
    case 'fetch': return 'unasked'
    default: return effectOfInput(call.input, shape)
  }
}

const commandNames = ['command', 'commands', 'cmd', 'script']
/** Matches the beginning of a patch in the form of Codex, git or diff. */
const patchBegins = /^\s*(?:\*\*\* Begin Patch|diff --git |Index: |--- \S)/

function effectOfInput(input: unknown, shape: Shape): Effect {
  if (typeof input === 'string') return patchBegins.test(input) ? 'unasked' : 'unclear'
  if (!isObject(input)) return 'unclear'
  const values = Object.values(input)
  if (commandNames.some((name) => Object.hasOwn(input, name)) || hasPathAndText(input)) return 'unasked'
  if (values.some((value) => typeof value === 'string' && patchBegins.test(value))) return 'unasked'
  return shape.as === 'tasks' ? 'none' : 'unclear'
}

/** Matches redirections that only discard output, or join stderr to stdout. */
const harmlessRedirects = /(?:[12&]?>\s*\/dev\/null|2>&1)(?=[\s;|&]|$)/g
/** Matches shell syntax beyond programs joined by `|`, `||`, `&&` or `;`, such as output redirects and substitution. */
const moreThanPrograms = /[>`\n\r\\]|<[<(>]|\$[({]|(?<!&)&(?!&)/
/** Matches arguments that let `find`, `sort` and others write or run something, and complex `sed` and `awk` scripts. */
const doesMore = new RegExp([
  String.raw`\s(?:-delete|-exec\w*|-ok\w*|-fprint\w*|-fls|--output|--pre|--ext-diff)\b`,
  String.raw`\b(?:sort|tree)\b.*\s-\w*o`,
  String.raw`\bsed\b(?! (?:-n \d[\d,$]*p|s/[\w.*]*/[\w.*]*/[gip]*)(?:\s|$))`,
  String.raw`\bawk\b(?! \{print(?: \$\w+)*\}(?:\s|$))`,
].join('|'))
const longestCommandChars = 2000

/** True if `runsUnasked` has `*`, or has the first words of every program call in a short and harmless command. */
export function isLetThrough(command: string, runsUnasked: readonly string[]): boolean {
  if (runsUnasked.includes('*')) return true
  if (runsUnasked.length === 0 || command.length > longestCommandChars) return false
  const bare = withoutQuotes(command).replace(harmlessRedirects, ' ')
  if (moreThanPrograms.test(bare) || doesMore.test(bare)) return false
  const parts = bare.split(/\|\|?|&&|;/).map((part) => `${part.trim()} `)
  return parts.every((part) => runsUnasked.some((words) => part.startsWith(`${words} `)))
}

/**
 * Removes the quotes from a command. A quoted text with special characters becomes `word`. Double quotes around a text
 * with `$`, `` ` `` or `\` stay.
 */
function withoutQuotes(command: string): string {
  return command.replace(/'[^']*'|"[^"$`\\]*"/g, (quoted) => {
    const text = quoted.slice(1, -1)
    return /^[\w,.:*/$ {}-]*$/.test(text) && !text.includes('${') ? text : 'word'
  })
}
