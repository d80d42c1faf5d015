/**
 * Keeps the text that an agent is writing, for readers that lack pieces of it.
 *
 * Answer and thoughts are two texts. Each is kept until an event completes it or the turn ends. Beyond a limit, the
 * beginning is dropped.
 */
import type { Event } from '../../schema/generated/events.ts'
import { printDelta, type DeltaFrame, type DeltaPiece } from './frames.ts'

/** The most characters that are kept of each unfinished text: of the answer and of the thoughts. */
export const openTextLimitChars = 262_144

type Field = keyof DeltaPiece

const fields: readonly Field[] = ['reasoning_content', 'content']

/** How far a reader has got in each field, as a number of characters since the server opened the conversation. */
export type TextPosition = Record<Field, number>

interface Growing {
  text: string
  /** As in `TextPosition`: the whole text is from `begin` to `end`, its kept part `text` is from `from` to `end`. */
  from: number
  begin: number
  end: number
  id: string
  timestamp: string
}

export class OpenText {
  readonly #limitChars: number
  readonly #growing: Readonly<Record<Field, Growing>> = { content: nothing(), reasoning_content: nothing() }

  constructor(limitChars = openTextLimitChars) {
    this.#limitChars = limitChars
  }

  /** Adds a piece that is being sent to live readers. */
  add({ field, text, id, timestamp }: DeltaFrame): void {
    const growing = this.#growing[field]
    growing.text += text
    growing.end += text.length
    growing.id = id
    growing.timestamp = timestamp
    if (growing.text.length <= this.#limitChars) return
    // Only half of the limit is kept, so that the next pieces need no cut.
    growing.text = growing.text.slice(-Math.floor(this.#limitChars / 2))
    growing.from = growing.end - growing.text.length
  }

  /** Drops the texts that `event` completes; without an event, both texts. */
  close(event?: Event): void {
    for (const field of event === undefined ? fields : heldBy(event)) {
      const growing = this.#growing[field]
      growing.text = ''
      growing.from = growing.begin = growing.end
    }
  }

  isAhead(position: Readonly<TextPosition>): boolean {
    const { content, reasoning_content: reasoning } = this.#growing
    return (
      (content.text !== '' && position.content < content.end) ||
      (reasoning.text !== '' && position.reasoning_content < reasoning.end)
    )
  }

  /** Returns a frame for each field of which a reader at `position` lacks text. A frame's time is `after` or later. */
  missing(position: Readonly<TextPosition>, after: string): readonly DeltaFrame[] {
    const frames = fields.flatMap((field) => {
      const growing = this.#growing[field]
      if (growing.text === '' || position[field] >= growing.end) return []
      const timestamp = growing.timestamp < after ? after : growing.timestamp
      return [printDelta(field, restOf(growing, position[field]), { id: growing.id, timestamp })]
    })
    return frames.sort((one, other) => (one.id < other.id ? -1 : 1))
  }

  /** Notes in `position` that the reader has the whole text of the field so far. */
  pass(position: TextPosition, field: Field): void {
    position[field] = this.#growing[field].end
  }

  /** Notes in `position` that the reader also has the piece in `frame`, which is added next. */
  passNext(position: TextPosition, { field, text }: DeltaFrame): void {
    position[field] = this.#growing[field].end + text.length
  }
}

function nothing(): Growing {
  return { text: '', from: 0, begin: 0, end: 0, id: '', timestamp: '' }
}

function restOf({ text, from, begin }: Growing, position: number): string {
  const start = Math.max(begin, position)
  return start >= from ? text.slice(start - from) : `[${from - start} characters are left out]\n\n${text}`
}

/** Returns the fields that an event completes. Of actions without a thought, only FinishAction completes `content`. */
function heldBy(event: Event): readonly Field[] {
  if (event.kind === 'MessageEvent') return event.source === 'agent' ? fields : []
  if (event.kind !== 'ActionEvent') return []
  return event.thought.length > 0 || event.action?.kind === 'FinishAction' ? fields : ['reasoning_content']
}
