/**
 * The hooks of a request, made the one form in which they are stored and answered (contract: conversations.md, section 10).
 *
 * A request may name the six points in PascalCase, as files of other programs do, and may wrap them in an object with the
 * one member `hooks`. A point that is named twice, a name that is none and an expression that cannot be compiled are
 * errors. Pure; what a matcher matches is told by `matcherOf`, so that both ends of a hook's life agree about it.
 */
import { AppError, type Issue } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { parse } from '../schema/check.ts'
import { HookConfig } from '../schema/generated/hooks.ts'

/** Points of the built-in agent's work, in the words of the contract, with the names of their lists. */
export const hookPoints = {
  PreToolUse: 'pre_tool_use',
  PostToolUse: 'post_tool_use',
  UserPromptSubmit: 'user_prompt_submit',
  SessionStart: 'session_start',
  SessionEnd: 'session_end',
  Stop: 'stop',
} as const satisfies Record<string, keyof HookConfig>

export type HookPoint = keyof typeof hookPoints

/** Which tools a list of hooks is for. */
export type Matcher =
  | { readonly type: 'all' }
  | { readonly type: 'name'; readonly name: string }
  /** It has to match the whole name. */
  | { readonly type: 'expression'; readonly source: string }

/** @throws AppError `invalid_input` with an issue for each place */
export function readHookConfig(value: Readonly<Record<string, unknown>>): HookConfig {
  const wrapped = value['hooks']
  const isWrapped = isObject(wrapped) && Object.keys(value).length === 1
  const issues: Issue[] = []
  const parsed = parse(HookConfig, withListNames(isWrapped ? wrapped : value, issues))
  issues.push(...(parsed.ok ? matcherIssues(parsed.value) : parsed.issues))
  if (parsed.ok && issues.length === 0) return parsed.value
  const place = ['body', 'hook_config', ...(isWrapped ? ['hooks'] : [])]
  throw new AppError('invalid_input', 'The hooks are not valid', {
    issues: issues.map((issue) => ({ ...issue, loc: [...place, ...issue.loc] })),
  })
}

export function matcherOf(text: string): Matcher {
  if (text === '' || text === '*') return { type: 'all' }
  if (text.length > 2 && text.startsWith('/') && text.endsWith('/')) return { type: 'expression', source: text.slice(1, -1) }
  return metacharacters.test(text) ? { type: 'expression', source: text } : { type: 'name', name: text }
}

const metacharacters = /[\\^$.|?*+()[\]{}]/

/** Members under the names of the lists; the first of two that mean the same list stays. */
function withListNames(value: Readonly<Record<string, unknown>>, issues: Issue[]): Record<string, unknown> {
  const named = new Map<string, unknown>()
  for (const [name, list] of Object.entries(value)) {
    const listName = isPoint(name) ? hookPoints[name] : name
    if (named.has(listName)) issues.push({ type: 'value_error', loc: [name], msg: `Hooks are given twice: ${listName}`, input: name })
    else named.set(listName, list)
  }
  return Object.fromEntries(named)
}

function isPoint(name: string): name is HookPoint {
  return Object.hasOwn(hookPoints, name)
}

function matcherIssues(config: HookConfig): Issue[] {
  return Object.values(hookPoints).flatMap((list) => config[list].flatMap(({ matcher }, place): Issue[] => {
    const read = matcherOf(matcher)
    if (read.type !== 'expression' || isExpression(read.source)) return []
    return [{ type: 'value_error', loc: [list, place, 'matcher'], msg: 'Expected a regular expression', input: matcher }]
  }))
}

/** Compiling is quick whatever the expression is; what may take for ever is matching, which is not done here. */
function isExpression(source: string): boolean {
  try {
    void new RegExp(source)
    return true
  } catch {
    return false
  }
}
