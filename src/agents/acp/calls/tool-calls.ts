/**
 * Reads the updates of a tool call of an external agent, and merges them into the data of the call. Pure.
 *
 * `tool_call`, `tool_call_update` and the `toolCall` of a permission request have the same members (ACP v1, tool
 * calls). The status of an open call may go backwards: Codex sends `in_progress`, then asks with `pending`.
 */
import { isEmpty, memberAt, numberOf, objectsOf, textOf, type Fields } from '../../../base/fields.ts'
import { parseJson } from '../../../base/json.ts'

export interface ToolCall {
  readonly title: string
  /** ACP's tool kind: `execute`, `edit`, `read`, ...; `other` when the agent does not say. */
  readonly kind: string
  readonly status: string
  /** The raw input; undefined while it is empty. A text that is a whole JSON object or list is parsed. */
  readonly input: unknown
  /** True once the agent has sent a raw input, even an empty input. */
  readonly announcesInput: boolean
  readonly content: readonly Fields[]
  /** False while `content` only explains the planned work. */
  readonly contentIsOutput: boolean
  readonly locations: readonly Fields[]
  readonly rawOutput: unknown
  /** The output so far from `_meta.terminal_output_delta`, in order. */
  readonly terminalOutput: string
  readonly exitCode: number | undefined
  /** For a call of a sub-agent (Claude): the id of the call that started the sub-agent. Undefined for other calls. */
  readonly parent: string | undefined
}

/** The most characters of a command's terminal output that are stored. */
const terminalOutputLimitChars = 1_000_000
const titleLimitChars = 10_000
const kindLimitChars = 100

export const newToolCall: ToolCall = {
  title: '',
  kind: 'other',
  status: 'pending',
  input: undefined,
  announcesInput: false,
  content: [],
  contentIsOutput: false,
  locations: [],
  rawOutput: undefined,
  terminalOutput: '',
  exitCode: undefined,
  parent: undefined,
}

/** Merges an update into a call. `isRecorded` tells that the call's action is recorded: new content is then output. */
export function mergeToolCall(call: ToolCall, news: Fields, isRecorded: boolean): ToolCall {
  const status = isFinal(call) ? call.status : (textOf(news['status']) ?? call.status)
  const hasContent = Array.isArray(news['content'])
  return {
    title: textOf(news['title'])?.slice(0, titleLimitChars) ?? call.title,
    kind: textOf(news['kind'])?.slice(0, kindLimitChars) ?? call.kind,
    status,
    input: isEmpty(news['rawInput']) ? call.input : readInput(news['rawInput']),
    announcesInput: call.announcesInput || (news['rawInput'] !== undefined && news['rawInput'] !== null),
    content: hasContent ? objectsOf(news['content']) : call.content,
    contentIsOutput: hasContent ? isRecorded || status !== 'pending' : call.contentIsOutput,
    locations: isEmpty(news['locations']) ? call.locations : objectsOf(news['locations']),
    rawOutput: isEmpty(news['rawOutput']) ? call.rawOutput : news['rawOutput'],
    terminalOutput: appendOutput(call.terminalOutput, memberAt(news, '_meta', 'terminal_output_delta', 'data')),
    exitCode: numberOf(memberAt(news, '_meta', 'terminal_exit', 'exit_code')) ?? call.exitCode,
    parent: textOf(memberAt(news, '_meta', 'claudeCode', 'parentToolUseId')) ?? call.parent,
  }
}

/** True when the update has a title, a kind, a status, an input or content that is not empty. */
export function describesCall(news: Fields): boolean {
  return ['title', 'kind', 'status', 'rawInput', 'content'].some((name) => !isEmpty(news[name]))
}

export function isFinal(call: ToolCall): boolean {
  return call.status === 'completed' || call.status === 'failed'
}

export function hasOutput(call: ToolCall): boolean {
  return call.rawOutput !== undefined || call.terminalOutput !== ''
}

/** False while the input is missing or is incomplete JSON. */
export function hasWholeInput({ input }: ToolCall): boolean {
  return input !== undefined && !(typeof input === 'string' && isJsonLike(input))
}

export interface Diff {
  readonly path: string
  /** Null for a new file. An empty text counts as null, because Gemini sends it for a new file. */
  readonly oldText: string | null
  readonly newText: string
  /** The kind of change in `_meta.kind` (Codex): `add`, `update` or `delete`. */
  readonly change?: string
}

export function diffsOf(call: ToolCall): readonly Diff[] {
  return call.content.flatMap((item) => {
    const path = textOf(item['path'])
    if (item['type'] !== 'diff' || path === undefined || typeof item['newText'] !== 'string') return []
    const change = textOf(memberAt(item, '_meta', 'kind'))
    const diff = { path, oldText: textOf(item['oldText']) ?? null, newText: item['newText'] }
    return [change === undefined ? diff : { ...diff, change }]
  })
}

/** True for a text that begins, after any white space, with `{` or `[`. */
function isJsonLike(text: string): boolean {
  return /^\s*[{[]/.test(text)
}

function readInput(raw: unknown): unknown {
  if (typeof raw !== 'string' || !isJsonLike(raw)) return raw
  try {
    return parseJson(raw)
  } catch {
    return raw // Not JSON: the text is the input.
  }
}

function appendOutput(before: string, piece: unknown): string {
  if (typeof piece !== 'string' || before.length >= terminalOutputLimitChars) return before
  const room = terminalOutputLimitChars - before.length
  if (piece.length <= room) return before + piece
  return `${before}${piece.slice(0, room)}\n[The rest of the output was too long to keep]\n`
}
