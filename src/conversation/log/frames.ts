/**
 * Makes frames: messages of live streams that look like events, but are never stored (decisions 2).
 *
 * Each frame has an id and a time, as an event has.
 */
import type { JsonObject } from '../../base/json.ts'
import { microsOfUpperHalf, upperHalf, type NextStamp, type Stamp } from '../../base/stamp.ts'
import {
  toConversationStateUpdateEvent, toServerErrorEvent, toStreamingDeltaEvent,
} from '../../schema/generated/events.ts'
import { fullState } from './info.ts'
import type { ConversationState } from './state.ts'

export interface DeltaPiece {
  readonly content?: string
  readonly reasoning_content?: string
}

/** A StreamingDeltaEvent. `json` is the whole frame. `field` is the member of the frame that holds `text`. */
export interface DeltaFrame extends Pick<Stamp, 'id' | 'timestamp'> {
  readonly field: keyof DeltaPiece
  readonly text: string
  readonly json: Buffer
}

export interface FramesOptions {
  readonly state: Readonly<ConversationState>
  /** The folder of the conversation in the data folder, shown as `persistence_dir`. */
  readonly directory: string
  readonly nextStamp: NextStamp
}

/** Builds the frames of one conversation, and recognizes their ids (`timeOf`). */
export class Frames {
  readonly #options: FramesOptions
  /** The lower half of the conversation's id. The ids of all frames end with it. */
  readonly #lowerHalf: string

  constructor(options: FramesOptions) {
    this.#options = options
    this.#lowerHalf = lowerHalf(options.state.id)
  }

  delta(field: keyof DeltaPiece, text: string): DeltaFrame {
    return printDelta(field, text, this.#stamp())
  }

  /** Returns a frame with an error that no event records. */
  error(code: string, detail: string): Buffer {
    const error = { kind: 'ServerErrorEvent', source: 'environment', code, detail } as const
    return print(toServerErrorEvent({ ...error, ...this.#stamp() }))
  }

  /** Returns a frame with the whole state, such as the first frame of a stream. */
  fullState(): Pick<DeltaFrame, 'json' | 'timestamp'> {
    const { state, directory } = this.#options
    return this.#update('full_state', fullState(state, directory))
  }

  /** Returns a frame that gives clients a new value of `stats`. */
  stats(value: JsonObject): Buffer {
    return this.#update('stats', value).json
  }

  /** Returns the time of this conversation's frame `id`, in microseconds; undefined for other ids and future times. */
  timeOf(id: string): number | undefined {
    const upper = upperHalf(id)
    if (upper?.[versionAt] !== '7' || lowerHalf(id) !== this.#lowerHalf) return undefined
    const micros = microsOfUpperHalf(upper)
    // After the clock was set back, an id may have a future time. The frame's place among the events is then unknown.
    return micros < this.#options.nextStamp().micros ? micros : undefined
  }

  #update(key: string, value: JsonObject): Pick<DeltaFrame, 'json' | 'timestamp'> {
    const update = { kind: 'ConversationStateUpdateEvent', source: 'environment', key, value } as const
    const stamp = this.#stamp()
    return { timestamp: stamp.timestamp, json: print(toConversationStateUpdateEvent({ ...update, ...stamp })) }
  }

  /** Returns an id and a time. The id has the lower half of the conversation's id, so that `timeOf` recognizes it. */
  #stamp(): Pick<Stamp, 'id' | 'timestamp'> {
    const { id, timestamp } = this.#options.nextStamp(this.#lowerHalf)
    return { id, timestamp }
  }
}

/** The index of the version digit in the 16 digits of a UUID's upper half. */
const versionAt = 12

/** Returns the last 8 bytes of a UUID as hex digits in lower case. */
function lowerHalf(id: string): string {
  return id.replaceAll('-', '').slice(-16).toLowerCase()
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
