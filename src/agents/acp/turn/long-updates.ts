/**
 * Processes updates of an external agent that are too long for one turn of the event loop.
 *
 * A long message or thought is split into chunks. Any other long update is masked in several turns of the event loop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { objectOf, type Fields } from '../../../base/fields.ts'
import { maskJsonInTurns, turnWeight, weightOf } from '../../../base/mask-turns.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import { blockText, imageUrl } from '../calls/output.ts'
import { sessionIdMask, sessionMask } from '../session/session-mask.ts'

const pieceChars = 48 * 1024

export function isLong(update: Fields): boolean {
  return weightOf(update) > turnWeight
}

/** Splits a text of a message or thought into chunks of at most `pieceChars`; undefined for any other update. */
export function chunksOf(update: Fields): readonly Fields[] | undefined {
  const kind = update['sessionUpdate']
  if (kind !== 'agent_message_chunk' && kind !== 'agent_thought_chunk') return undefined
  const block = objectOf(update['content'])
  if (imageUrl(block) !== undefined) return undefined
  const text = blockText(block)
  return Array.from({ length: Math.ceil(text.length / pieceChars) }, (_, index) => {
    return { ...update, content: { type: 'text', text: text.slice(index * pieceChars, (index + 1) * pieceChars) } }
  })
}

/** Returns an update or a tool call with its texts masked as by `sessionMask`, in several turns of the event loop. */
export async function maskedInTurns(long: Fields, host: AgentHost): Promise<Fields> {
  const hideId = sessionIdMask(host)
  const masked = await maskJsonInTurns(long, { mask: sessionMask(host), stream: () => host.maskingStream() })
  await nextTurn()
  const hidden = objectOf(withTexts(masked, hideId))
  const image = objectOf(hidden['content'])
  if (image['type'] !== 'image') return hidden
  await nextTurn()
  // Checks the image in its own turn of the event loop; `imageUrl` keeps the result for later calls.
  imageUrl(image)
  await nextTurn()
  return hidden
}

/** Returns the value with `change` applied to each text. (`maskJsonInTurns` leaves the session id in long texts.) */
function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item: unknown) => withTexts(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withTexts(member, change)]))
}
