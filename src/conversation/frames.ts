/**
 * Frames that exist on live streams only (decisions 2).
 *
 * They have ids and times like events, but are never stored, never counted and never returned by REST.
 */
import type { Stamp } from '../base/stamp.ts'
import type { JsonObject } from '../base/json.ts'
import {
  toConversationStateUpdateEvent, toServerErrorEvent, toStreamingDeltaEvent,
} from '../schema/generated/events.ts'

export interface DeltaPiece {
  readonly content?: string
  readonly reasoning_content?: string
}

/** Builds a frame with a piece of the text that the agent is writing. */
export function deltaFrame(piece: DeltaPiece, stamp: Stamp): Buffer {
  const { id, timestamp } = stamp
  return print(toStreamingDeltaEvent({ kind: 'StreamingDeltaEvent', id, timestamp, source: 'agent', ...piece }))
}

/** Builds an error frame for one client, about a frame that the client sent. */
export function errorFrame(code: string, detail: string, stamp: Stamp): Buffer {
  const { id, timestamp } = stamp
  return print(toServerErrorEvent({ kind: 'ServerErrorEvent', id, timestamp, source: 'environment', code, detail }))
}

/** Builds the frame with the whole state. It is the first frame of a stream and follows each run. */
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
