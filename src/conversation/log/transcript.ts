/**
 * Makes the transcript of a conversation, as text for an agent that has lost its session.
 *
 * A long message loses its middle, and a long transcript its older part. A tool call is one line with its outcome.
 * Secrets are masked in each text before it is cut.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import type { Event, MessageEvent, ObservationEvent } from '../../schema/generated/events.ts'
import type { EventReader } from './event-reader.ts'
import { storedEvent } from './stored-event.ts'

export interface TranscriptOptions {
  readonly limitBytes: number
  readonly mask: (text: string) => string
  /** Ids of messages to leave out. */
  readonly without: ReadonlySet<string>
}

const leftOut = '[Earlier parts of the conversation are left out]'
const actionLimitChars = 200
/** A message with more characters than this share of `limitBytes` is cut. */
const messageShare = 0.25
const batch = 64

/** Returns the transcript, oldest event first; empty if no event of the history belongs in it. */
export async function readTranscript(events: EventReader, options: TranscriptOptions): Promise<string> {
  const parts: string[] = []
  const outcomes = new Map<string, string>()
  let room = options.limitBytes - Buffer.byteLength(leftOut)
  for (let sequence = events.eventCount - 1; sequence >= 0; sequence--) {
    if (sequence % batch === 0) await nextTurn()
    const json = await events.read(sequence)
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

/**
 * Returns an event's text for the transcript, if any. The log is read backwards, so that `outcomes` has the result of
 * an action when the action is read.
 */
function partOf(event: Event, outcomes: Map<string, string>, options: TranscriptOptions): string | undefined {
  switch (event.kind) {
    case 'MessageEvent':
      return event.source === 'environment' || options.without.has(event.id) ? undefined : messagePart(event, options)
    case 'ActionEvent': {
      const what = options.mask(event.summary ?? event.tool_name).replaceAll(/\s+/g, ' ')
      return `Tool: ${what.slice(0, actionLimitChars)} (${outcomes.get(event.tool_call_id) ?? 'no result'})`
    }
    case 'ObservationEvent':
      outcomes.set(event.tool_call_id, hasFailed(event.observation) ? 'failed' : 'done')
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

function hasFailed(observation: ObservationEvent['observation']): boolean {
  return 'is_error' in observation && observation.is_error
}

function messagePart(event: MessageEvent, { mask, limitBytes }: TranscriptOptions): string | undefined {
  const texts = [...event.llm_message.content, ...event.extended_content].map((item) => {
    return item.type === 'text' ? item.text : '[image]'
  })
  const text = mask(texts.join('\n'))
  if (text.trim() === '') return undefined
  return `${event.source === 'user' ? 'User' : 'Agent'}: ${shortened(text, Math.floor(limitBytes * messageShare))}`
}

/** Cuts the middle out of a text of more than `limit` characters. */
function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  return `${text.slice(0, half)} [...] ${text.slice(-half)}`
}
