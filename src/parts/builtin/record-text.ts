/**
 * Writes a conversation as one text, for a model that judges it.
 *
 * Long messages lose their middles. The oldest messages of a long conversation are left out. Secrets are masked before
 * a text is cut.
 */
import type { Message } from '../../schema/generated/values.ts'

/** The most characters of a conversation that are kept: about 50,000 tokens. */
const textLimit = 200_000
/** The most characters of a message of the user or the agent that are kept. */
const wordsLimit = 40_000
/** The most characters of a call's arguments, and of a call's result, that are kept. */
const toolLimit = 4000

const leftOut = '[What was before is left out]'

type Mask = (text: string) => string

/**
 * Returns the text of the newest messages that fit, oldest first, without system messages. The text begins with a note
 * when messages are left out for their length.
 */
export function recordText(messages: readonly Message[], mask: Mask): string {
  const parts: string[] = []
  let room = textLimit
  for (const message of messages.toReversed()) {
    const part = partOf(message, mask)
    if (part === '') continue
    room -= part.length + 1
    if (room < 0) {
      parts.push(leftOut)
      break
    }
    parts.push(part)
  }
  return parts.reverse().join('\n')
}

function partOf({ role, content, tool_calls: calls = [], name }: Message, mask: Mask): string {
  const words = mask(content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n').trim())
  switch (role) {
    case 'system':
      return ''
    case 'tool':
      return `Result of ${name ?? 'a tool'}: ${shortened(words, toolLimit)}`
    case 'user':
      return `User: ${shortened(words, wordsLimit)}`
    case 'assistant': {
      const said = words === '' ? [] : [`Agent: ${shortened(words, wordsLimit)}`]
      return [
        ...said, ...calls.map((call) => `Agent calls ${call.name}: ${shortened(mask(call.arguments), toolLimit)}`),
      ].join('\n')
    }
  }
}

function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  return `${text.slice(0, half)} [... ${text.length - 2 * half} characters ...] ${text.slice(-half)}`
}
