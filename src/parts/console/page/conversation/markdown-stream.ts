/**
 * Parses Markdown of a growing text. Settled blocks no longer change; open blocks can change.
 *
 * A block is settled when a later block has begun and two lines from its beginning are complete. The second line
 * decides whether a table begins. Only the text after the settled blocks is parsed again.
 */
import { placedBlocks, type Block } from './markdown.ts'
import type { Meter } from './terminal.ts'

export interface Growth {
  /** The blocks that became final with this piece of text, in order. */
  readonly settled: readonly Block[]
  /** The last blocks of the text so far. Later text can still change them. */
  readonly open: readonly Block[]
}

export class MarkdownStream {
  readonly #meter: Meter
  /** The text of the open blocks. */
  #rest = ''

  constructor(meter: Meter = { steps: 0 }) {
    this.#meter = meter
  }

  /** Adds a piece of text. Returns the blocks that became final with it, and the blocks that can still change. */
  push(piece: string): Growth {
    this.#rest += piece
    const lines = this.#rest.split(/\r?\n/)
    const blocks = placedBlocks(lines, this.#meter)
    const last = blocks.findLast(({ line }) => line < lines.length - 2)
    const from = last?.line ?? 0
    if (from === 0) return { settled: [], open: blocks.map(({ block }) => block) }
    this.#rest = lines.slice(from).join('\n')
    const settled = blocks.filter(({ line }) => line < from).map(({ block }) => block)
    return { settled, open: blocks.filter(({ line }) => line >= from).map(({ block }) => block) }
  }
}
