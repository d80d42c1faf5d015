/**
 * Frames that exist on live streams only (decisions 2).
 *
 * They have ids and times like events, but are never stored, never counted and never returned by REST.
 */
import type { Stamp } from '../base/stamp.ts'
import type { JsonObject } from '../base/json.ts'
import { toServerErrorEvent, toStreamingDeltaEvent, toConversationStateUpdateEvent } from '../schema/generated/events.ts'

export interface DeltaPiece {
  readonly content?: string
  readonly reasoning_content?: string
}

/** A piece of text that is being written by the agent. */
export function deltaFrame(piece: DeltaPiece, stamp: Stamp): Buffer {
  const { id, timestamp } = stamp
  return print(toStreamingDeltaEvent({ kind: 'StreamingDeltaEvent', id, timestamp, source: 'agent', ...piece }))
}

/** An error for one client, about something that this client sent. */
export function errorFrame(code: string, detail: string, stamp: Stamp): Buffer {
  const { id, timestamp } = stamp
  return print(toServerErrorEvent({ kind: 'ServerErrorEvent', id, timestamp, source: 'environment', code, detail }))
}

/** The whole state of the conversation, as the first frame of a stream and after a run. */
export function fullStateFrame(value: JsonObject, stamp: Stamp): Buffer {
  const { id, timestamp } = stamp
  return print(
    toConversationStateUpdateEvent({
      kind: 'ConversationStateUpdateEvent',
      id,
      timestamp,
      source: 'environment',
      key: 'full_state',
      value,
    }),
  )
}

function print(frame: object): Buffer {
  return Buffer.from(JSON.stringify(frame))
}
