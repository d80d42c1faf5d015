/**
 * Makes the messages of the stand-ins for external agents, over the Agent Client Protocol: answers to the server's
 * requests, and updates that carry the time of their writing.
 *
 * Times are of the machine's monotonic clock, in nanoseconds: all programs of the machine share it. `at<` and `>` stand
 * around each, behind the kind of the update.
 */
import { isObject, parseJson } from '../../src/base/json.ts'

export const filler = 'The quick brown fox jumps over the lazy dog. '.repeat(4)

/** The kind and the number of updates that a prompt asks for: `delta 200`. */
export interface Talk {
  readonly kind: string
  readonly count: number
}

/**
 * Answers one line of the server; `talk` is the agent's turn. Notifications get no answer, and answers go to `settle`.
 */
export async function answerLine(
  line: string, talk: (talk: Talk) => Promise<void>, write: (line: string) => void,
  settle: (id: unknown) => void = () => undefined,
): Promise<void> {
  const message = parseJson(line)
  if (!isObject(message) || message['id'] === undefined) return
  const { id, method, params } = message
  if (method === undefined) return settle(id)
  if (method === 'session/prompt') await talk(talkOf(params))
  write(print({ id, result: results[String(method)] ?? { sessionId: 'bench' } }))
}

const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: 1, agentCapabilities: {} },
  'session/prompt': { stopReason: 'end_turn' },
}

function talkOf(params: unknown): Talk {
  const [, kind = '', count] = /(delta|tool|paced|once|ask|stream|burst) (\d+)/.exec(JSON.stringify(params)) ?? []
  return { kind, count: Number(count) }
}

export function textChunk(): string {
  return printUpdate({
    sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `delta ${stamp()} ${filler}` },
  })
}

export function toolCall(number: number): string {
  const [toolCallId, title] = [`call-${number}`, stamp()]
  return printUpdate({
    sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'in_progress', rawInput: { text: filler },
  })
}

export function toolEnd(number: number): string {
  const content = [{ type: 'content', content: { type: 'text', text: `result ${stamp()} ${filler}` } }]
  return printUpdate({ sessionUpdate: 'tool_call_update', toolCallId: `call-${number}`, status: 'completed', content })
}

/** Asks whether a tool may be used. */
export function permissionRequest(id: string): string {
  const toolCall = { toolCallId: id, title: id, kind: 'execute', rawInput: { command: filler } }
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' },
  ]
  return print({ id, method: 'session/request_permission', params: { sessionId: 'bench', toolCall, options } })
}

function printUpdate(update: object): string {
  return print({ method: 'session/update', params: { sessionId: 'bench', update } })
}

function print(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

function stamp(): string {
  return `at<${process.hrtime.bigint()}>`
}
