/** Classifies one `session/update` of an agent. Pure. */
import { memberAt, objectOf, textOf, type Fields } from '../../../base/fields.ts'
import { blockText, imageUrl } from '../calls/output.ts'

/** True for Gemini's message that reports a change of mode (agents/acp/sessions.md, "Models, modes and options"). */
export function isModeNotice(update: Fields): boolean {
  const text = memberAt(update, 'content', 'text')
  if (update['sessionUpdate'] !== 'agent_message_chunk') return false
  return typeof text === 'string' && text.startsWith('[MODE_UPDATE] ')
}

export function isWork(update: Fields): boolean {
  switch (update['sessionUpdate']) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'tool_call':
    case 'tool_call_update':
    case 'plan': return true
    default: return false
  }
}

/** True for a message or thought chunk with an image or a text that is not blank. False for a mode notice. */
export function saysSomething(update: Fields): boolean {
  const { sessionUpdate } = update
  if (sessionUpdate !== 'agent_message_chunk' && sessionUpdate !== 'agent_thought_chunk') return false
  const block = objectOf(update['content'])
  return !isModeNotice(update) && (blockText(block).trim() !== '' || imageUrl(block) !== undefined)
}

/** True for usage figures with which Claude ends work of its own. The figures of a prompt have the origin `human`. */
export function endsOwnWork(update: Fields): boolean {
  const origin = textOf(memberAt(update, '_meta', '_claude/origin', 'kind'))
  return update['sessionUpdate'] === 'usage_update' && origin !== undefined && origin !== 'human'
}
