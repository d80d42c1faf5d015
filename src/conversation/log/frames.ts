/**
 * Makes the frames that exist on live streams only (decisions 2).
 *
 * Frames have ids and times like events, but are never stored, never counted and never returned by REST.
 */
import type { Stamp } from '../../base/stamp.ts'
import {
  toConversationStateUpdateEvent, toServerErrorEvent, toStreamingDeltaEvent,
} from '../../schema/generated/events.ts'
import { fullState } from './info.ts'
import type { ConversationState } from './state.ts'

export interface DeltaPiece {
  readonly content?: string
  readonly reasoning_content?: string
}

/** A frame with a piece of a text, and the piece itself. */
export interface DeltaFrame extends Pick<Stamp, 'id' | 'timestamp'> {
  readonly field: keyof DeltaPiece
  readonly text: string
  readonly json: Buffer
}

export interface FramesOptions {
  readonly state: Readonly<ConversationState>
  /** The folder of the conversation in the data folder, shown as `persistence_dir`. */
  readonly directory: string
  readonly nextStamp: () => Stamp
}

/** Builds the frames of one conversation. */
export class Frames {
  readonly #options: FramesOptions

  constructor(options: FramesOptions) {
    this.#options = options
  }

  /** Returns a frame with a piece of the text that the agent is writing. */
  delta(field: keyof DeltaPiece, text: string): DeltaFrame {
    return printDelta(field, text, this.#options.nextStamp())
  }

  /** Returns a frame with an error for one client, about a frame that the client sent. */
  error(code: string, detail: string): Buffer {
    const { id, timestamp } = this.#options.nextStamp()
    return print(toServerErrorEvent({ kind: 'ServerErrorEvent', id, timestamp, source: 'environment', code, detail }))
  }

  /** Returns a frame with the whole state: the first frame of a stream, also sent after each run and each pause. */
  fullState(): Buffer {
    const { state, directory, nextStamp } = this.#options
    const { id, timestamp } = nextStamp()
    const value = fullState(state, directory)
    const update = { kind: 'ConversationStateUpdateEvent', source: 'environment', key: 'full_state', value } as const
    return print(toConversationStateUpdateEvent({ ...update, id, timestamp }))
  }
}

/** Returns a frame with a piece of text and the given id and time. */
export function printDelta(
  field: keyof DeltaPiece, text: string, { id, timestamp }: Pick<Stamp, 'id' | 'timestamp'>,
): DeltaFrame {
  const frame = { kind: 'StreamingDeltaEvent', id, timestamp, source: 'agent', [field]: text } as const
  return { field, text, id, timestamp, json: print(toStreamingDeltaEvent(frame)) }
}

function print(frame: object): Buffer {
  return Buffer.from(JSON.stringify(frame))
}
