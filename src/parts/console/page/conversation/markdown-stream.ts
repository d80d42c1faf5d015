/**
 * Markdown of a text that still grows: blocks that can change no more, and the last ones. Pure.
 *
 * A block is settled when a later block begins on a line that is complete, as the line behind it is: two lines say
 * whether a table begins. Only the text behind the settled blocks is parsed again, so the settled part of a page is
 * never touched, and nothing flickers.
 */
import { placedBlocks, type Block } from './markdown.ts'
import type { Meter } from './terminal.ts'

export interface Growth {
  /** Blocks that were settled by this piece, in order. */
  readonly settled: readonly Block[]
  /** The blocks behind them, as they look now. */
  readonly open: readonly Block[]
}

export class MarkdownStream {
  readonly #meter: Meter
  /** The text behind the settled blocks. */
  #rest = ''

  constructor(meter: Meter = { steps: 0 }) {
    this.#meter = meter
  }

  /** Adds a piece of text. */
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
