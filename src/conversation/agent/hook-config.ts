/**
 * Converts the hooks of a request to their stored form (contract/conversations.md, section 10). Pure.
 *
 * A request may name the hook points in PascalCase, and may wrap them in an object with the single member `hooks`.
 */
import { AppError, type Issue } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { parse } from '../../schema/check.ts'
import { HookConfig } from '../../schema/generated/hooks.ts'

/** Maps each hook point of the built-in agent to its list in HookConfig. */
export const hookPoints = {
  PreToolUse: 'pre_tool_use',
  PostToolUse: 'post_tool_use',
  UserPromptSubmit: 'user_prompt_submit',
  SessionStart: 'session_start',
  SessionEnd: 'session_end',
  Stop: 'stop',
} as const satisfies Record<string, keyof HookConfig>

export type HookPoint = keyof typeof hookPoints

/** Selects the tools that a list of hooks applies to. */
export type Matcher =
  | { readonly type: 'all' }
  | { readonly type: 'name'; readonly name: string }
  /** A regular expression that must match the whole name of the tool. */
  | { readonly type: 'expression'; readonly source: string }

/** Returns the stored form of a request's hooks. @throws AppError `invalid_input` with the issues that were found */
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
  const isDelimited = text.length > 2 && text.startsWith('/') && text.endsWith('/')
  if (isDelimited) return { type: 'expression', source: text.slice(1, -1) }
  return metacharacters.test(text) ? { type: 'expression', source: text } : { type: 'name', name: text }
}

const metacharacters = /[\\^$.|?*+()[\]{}]/

/** Renames members such as `PreToolUse` by `hookPoints`. Adds an issue if two members name the same list. */
function withListNames(value: Readonly<Record<string, unknown>>, issues: Issue[]): Record<string, unknown> {
  const named = new Map<string, unknown>()
  for (const [name, list] of Object.entries(value)) {
    const listName = isPoint(name) ? hookPoints[name] : name
    const isTwice = named.has(listName)
    if (!isTwice) named.set(listName, list)
    else issues.push({ type: 'value_error', loc: [name], msg: `Hooks are given twice: ${listName}`, input: name })
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
    const msg = 'Expected a regular expression'
    return [{ type: 'value_error', loc: [list, place, 'matcher'], msg, input: matcher }]
  }))
}

function isExpression(source: string): boolean {
  try {
    void new RegExp(source)
    return true
  } catch {
    return false // The source is no regular expression.
  }
}
