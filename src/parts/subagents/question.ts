/**
 * Asks the user of the parent conversation to approve an action of a sub-agent (decisions 15).
 *
 * A message in the parent's history first shows the action, so that the user sees which action an approval allows.
 */
import type { ConfirmationAnswer } from '../../conversation/agent/agent.ts'
import type { SubQuestion } from '../../conversation/list/sub-run.ts'
import type { ToolRun, ToolTurn } from '../../agents/tool.ts'

export interface Asking {
  readonly call: Pick<ToolRun, 'id'>
  readonly turn: Pick<ToolTurn, 'actionId' | 'ask' | 'record'>
  readonly name: string
  /** The id of the sub-agent's conversation. */
  readonly taskId: string
  readonly mask: (text: string) => string
}

const actionLimitChars = 20_000
const options = [
  { id: 'accept', name: 'Accept', kind: 'allow_once' },
  { id: 'reject', name: 'Reject', kind: 'reject_once' },
] as const

/**
 * Shows the action in a message of the parent conversation, asks the user, and returns the answer. Without asking,
 * returns `cancelled` if `withdrawn` is already aborted, and `denied` if the action is missing or too long.
 */
export async function askAbove(
  { toolName, action }: SubQuestion, withdrawn: AbortSignal, { call, turn, name, taskId, mask }: Asking,
): Promise<ConfirmationAnswer> {
  if (withdrawn.aborted) return { outcome: 'cancelled' }
  if (action === null) return { outcome: 'denied', reason: 'The action cannot be shown to the user for approval' }
  const json = JSON.stringify(action, null, 2)
  if (json.length > actionLimitChars) {
    return { outcome: 'denied', reason: 'The action is too long to be shown to the user for approval: make it shorter' }
  }
  const command = action['kind'] === 'TerminalAction' ? action['command'] : undefined
  const shown = typeof command === 'string' ? command : json
  const title = `The sub-agent "${name}" asks for approval: ${toolName}`
  const text = mask(`[Sub-agent] ${title} (task ${taskId})\n\n${shown}`)
  turn.record({ kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content: text } })
  const question = { toolCallId: call.id, actionId: turn.actionId, title, options }
  return turn.ask(typeof command === 'string' ? { ...question, command: mask(command) } : question, withdrawn)
}
