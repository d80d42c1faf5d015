/**
 * What one `session/update` shows of its agent: that it works, or that it only tells something.
 *
 * Pure: one update is looked at, and nothing that came before.
 */
import { memberAt, objectOf, textOf, type Fields } from '../../base/fields.ts'
import { blockText, imageUrl } from './output.ts'

/** Gemini says a change of mode as a message of its own (acp.md, section 4, point 3). */
export function isModeNotice(update: Fields): boolean {
  const text = memberAt(update, 'content', 'text')
  return update.sessionUpdate === 'agent_message_chunk' && typeof text === 'string' && text.startsWith('[MODE_UPDATE] ')
}

/** Updates that show that the agent has the prompt. */
export function isWork(update: Fields): boolean {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'tool_call':
    case 'tool_call_update':
    case 'plan': return true
    default: return false
  }
}

/** True for a chunk of a message or a thought with something in it. */
export function saysSomething(update: Fields): boolean {
  const { sessionUpdate } = update
  if (sessionUpdate !== 'agent_message_chunk' && sessionUpdate !== 'agent_thought_chunk') return false
  const block = objectOf(update.content)
  return !isModeNotice(update) && (blockText(block).trim() !== '' || imageUrl(block) !== undefined)
}

/**
 * True for the sign with which an agent ends a piece of work that it had begun by itself: Claude's figures of a cycle
 * carry the origin of that cycle, which is `human` for a prompt.
 */
export function endsOwnWork(update: Fields): boolean {
  const origin = textOf(memberAt(update, '_meta', '_claude/origin', 'kind'))
  return update.sessionUpdate === 'usage_update' && origin !== undefined && origin !== 'human'
}
