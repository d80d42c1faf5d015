/**
 * A conversation as text, for an agent that has lost its own memory of it.
 *
 * Messages word for word, a long one with its middle left out; a tool call as one line with what became of it, its output
 * not at all. It is read from the end until a limit is reached, so that the newest is there and what is missing is the
 * oldest, and says where it begins. Every text is masked before anything is cut.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseOwnJsonBytes } from '../base/json-turns.ts'
import type { Event, MessageEvent } from '../schema/generated/events.ts'
import type { ConversationLog } from '../storage/log.ts'
import { storedEvent } from './stored-event.ts'

export interface TranscriptOptions {
  /** Of the whole text, in UTF-8. */
  readonly limitBytes: number
  readonly mask: (text: string) => string
  /** Ids of messages that are not part of it: those that the agent is about to get. */
  readonly without: ReadonlySet<string>
}

const leftOut = '[Earlier parts of the conversation are left out]'
const actionLimitChars = 200
/** How much of the whole one message may take. */
const messageShare = 0.25
const batch = 64

/** The conversation, oldest first; empty when nothing was said. */
export async function readTranscript(log: ConversationLog, options: TranscriptOptions): Promise<string> {
  const parts: string[] = []
  const outcomes = new Map<string, string>()
  let room = options.limitBytes - Buffer.byteLength(leftOut)
  for (let sequence = log.eventCount - 1; sequence >= 0; sequence--) {
    if (sequence % batch === 0) await nextTurn()
    const json = await log.read(sequence)
    const event = json === undefined ? undefined : storedEvent(await parseOwnJsonBytes(json))
    const part = event === undefined ? undefined : partOf(event, outcomes, options)
    if (part === undefined) continue
    room -= Buffer.byteLength(part) + 1
    if (room < 0) {
      parts.push(leftOut)
      break
    }
    parts.push(part)
  }
  return parts.reverse().join('\n')
}

/** What an event adds. Answers come before their actions here, and are remembered until those do. */
function partOf(event: Event, outcomes: Map<string, string>, options: TranscriptOptions): string | undefined {
  switch (event.kind) {
    case 'MessageEvent':
      return event.source === 'environment' || options.without.has(event.id) ? undefined : messagePart(event, options)
    case 'ActionEvent': {
      const what = options.mask(event.summary ?? event.tool_name).replaceAll(/\s+/g, ' ')
      return `Tool: ${what.slice(0, actionLimitChars)} (${outcomes.get(event.tool_call_id) ?? 'no result'})`
    }
    case 'ObservationEvent':
      outcomes.set(event.tool_call_id, 'is_error' in event.observation && event.observation.is_error ? 'failed' : 'done')
      return undefined
    case 'UserRejectObservation':
      outcomes.set(event.tool_call_id, 'denied')
      return undefined
    case 'AgentErrorEvent':
      outcomes.set(event.tool_call_id, 'failed')
      return undefined
    default:
      return undefined
  }
}

function messagePart(event: MessageEvent, { mask, limitBytes }: TranscriptOptions): string | undefined {
  const texts = [...event.llm_message.content, ...event.extended_content].map((item) => {
    return item.type === 'text' ? item.text : '[image]'
  })
  const text = mask(texts.join('\n'))
  if (text.trim() === '') return undefined
  return `${event.source === 'user' ? 'User' : 'Agent'}: ${shortened(text, Math.floor(limitBytes * messageShare))}`
}

/** Counts characters where the limit is in bytes: the whole is measured again. */
function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  return `${text.slice(0, half)} [...] ${text.slice(-half)}`
}
