/**
 * Text as a terminal shows it (ECMA-48), with colours and movements of the cursor. Pure functions.
 *
 * Sequences that are not supported are left out. The work is linear in the length of the text.
 */

/** A colour: a number of the palette of 256, or `#rrggbb`. */
export type Colour = number | string

export interface Style {
  readonly fg?: Colour
  readonly bg?: Colour
  readonly bold?: boolean
  readonly dim?: boolean
  readonly italic?: boolean
  readonly underline?: boolean
  readonly inverse?: boolean
  readonly strike?: boolean
}

/** Adjacent characters of one style. */
export interface Run {
  readonly text: string
  readonly style: Style
}

export type Line = readonly Run[]

/** Counts the steps of the work, so that tests can check that the work is linear. */
export interface Meter {
  steps: number
}

interface Row {
  readonly characters: string[]
  readonly styles: Style[]
}

/** The last column to which an escape sequence can move the cursor. */
const columnLimit = 2000
const tabWidth = 8
const plain: Style = {}

/**
 * Matches escape sequences (CSI, control strings such as OSC, short sequences), CR, LF, BS and TAB. The groups are the
 * parameters and the final byte of a CSI sequence.
 */
const sequences = new RegExp([
  '\u001b\\[([0-9;:<=>?]*)[ -/]*([@-~])',
  '\u001b[\\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\\\)?',
  '\u001b[ -/]*[0-~]?',
  '[\r\n\b\t]',
].join('|'), 'g')

export function terminalLines(text: string, meter: Meter = { steps: 0 }): readonly Line[] {
  const screen = new Screen(meter)
  let from = 0
  for (const found of text.matchAll(sequences)) {
    screen.write(text.slice(from, found.index))
    from = found.index + found[0].length
    const [sequence, parameters, final] = found
    if (final !== undefined) screen.control(final, parameters ?? '')
    else screen.move(sequence)
  }
  screen.write(text.slice(from))
  return screen.lines()
}

class Screen {
  readonly #meter: Meter
  readonly #rows: Row[] = [emptyRow()]
  #style: Style = plain
  #row = 0
  #column = 0

  constructor(meter: Meter) {
    this.#meter = meter
  }

  write(text: string): void {
    const row = this.#current()
    for (const character of text) {
      this.#meter.steps++
      while (row.characters.length < this.#column) put(row, row.characters.length, ' ', plain)
      put(row, this.#column, character, this.#style)
      this.#column++
    }
  }

  /** Moves the cursor for LF, CR or BS, and writes spaces for a tab. Ignores any other sequence. */
  move(character: string): void {
    this.#meter.steps++
    if (character === '\n') {
      this.#row++
      this.#column = 0
      if (this.#row === this.#rows.length) this.#rows.push(emptyRow())
    } else if (character === '\r') this.#column = 0
    else if (character === '\b') this.#column = Math.max(0, this.#column - 1)
    else if (character === '\t') this.write(' '.repeat(tabWidth - (this.#column % tabWidth)))
  }

  control(final: string, parameters: string): void {
    this.#meter.steps += 1 + parameters.length
    const count = Math.max(1, Number.parseInt(parameters, 10) || 1)
    switch (final) {
      case 'm': this.#style = styled(this.#style, parameters); return
      case 'A': this.#row = Math.max(0, this.#row - count); return
      case 'B': this.#row = Math.min(this.#rows.length - 1, this.#row + count); return
      case 'C': this.#toColumn(this.#column + count); return
      case 'D': this.#toColumn(this.#column - count); return
      case 'G': this.#toColumn(count - 1); return
      case 'K': this.#eraseInLine(Number.parseInt(parameters, 10) || 0); return
      case 'J': this.#eraseBelow(Number.parseInt(parameters, 10) || 0); return
      default: return
    }
  }

  lines(): readonly Line[] {
    return this.#rows.map(runsOf)
  }

  #toColumn(column: number): void {
    this.#column = Math.max(0, Math.min(columnLimit, column))
  }

  #current(): Row {
    const row = this.#rows[this.#row] ?? emptyRow()
    this.#rows[this.#row] = row
    return row
  }

  /** Erases from the cursor on (0), up to the cursor (1), or the whole line (2). */
  #eraseInLine(mode: number): void {
    const row = this.#current()
    if (mode === 0) cut(row, this.#column)
    else if (mode === 1) this.#blank(row)
    else if (mode === 2) cut(row, 0)
  }

  /** Blanks the cells up to the cursor. To limit the work, a line of more than `columnLimit` cells is not changed. */
  #blank(row: Row): void {
    const last = Math.min(this.#column, row.characters.length - 1, columnLimit)
    if (row.characters.length > columnLimit) return
    for (let at = 0; at <= last; at++) put(row, at, ' ', plain)
    this.#meter.steps++
  }

  /** Mode 0 erases from the cursor on. Modes 2 and 3 erase everything and move the cursor to the start. */
  #eraseBelow(mode: number): void {
    if (mode === 0) {
      cut(this.#current(), this.#column)
      this.#rows.length = this.#row + 1
    } else if (mode === 2 || mode === 3) {
      this.#rows.length = 0
      this.#rows.push(emptyRow())
      this.#row = 0
      this.#column = 0
    }
  }
}

function emptyRow(): Row {
  return { characters: [], styles: [] }
}

function put(row: Row, at: number, character: string, style: Style): void {
  row.characters[at] = character
  row.styles[at] = style
}

function cut(row: Row, length: number): void {
  if (row.characters.length <= length) return
  row.characters.length = length
  row.styles.length = length
}

function runsOf({ characters, styles }: Row): Line {
  const runs: Run[] = []
  let from = 0
  for (let at = 1; at <= characters.length; at++) {
    if (at < characters.length && styles[at] === styles[from]) continue
    runs.push({ text: characters.slice(from, at).join(''), style: styles[from] ?? plain })
    from = at
  }
  return runs
}

/** Applies the parameters of an SGR sequence (ECMA-48) to a style, and returns the resulting style. */
function styled(style: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map((code) => Number.parseInt(code, 10) || 0)
  let next = style
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    if (code === 38 || code === 48) {
      const [colour, used] = extendedColour(codes, at + 1)
      if (colour !== undefined) next = { ...next, ...(code === 38 ? { fg: colour } : { bg: colour }) }
      at += used
    } else next = withCode(next, code)
  }
  return next
}

/** Reads the parameters `5;n` or `2;r;g;b`. Returns the colour (undefined if invalid), and how many were read. */
function extendedColour(codes: readonly number[], at: number): readonly [Colour | undefined, number] {
  const [mode, first = 0, second = 0, third = 0] = codes.slice(at, at + 4)
  if (mode === 5) return [first <= 255 ? first : undefined, 2]
  if (mode !== 2) return [undefined, 0]
  const hex = [first, second, third].map((part) => Math.min(255, part).toString(16).padStart(2, '0'))
  return [`#${hex.join('')}`, 4]
}

/** The attributes that an SGR code sets: true switches an attribute on, false off. */
const attributes: Readonly<Record<number, Style>> = {
  1: { bold: true }, 2: { dim: true }, 3: { italic: true }, 4: { underline: true }, 7: { inverse: true },
  9: { strike: true }, 22: { bold: false, dim: false }, 23: { italic: false }, 24: { underline: false },
  27: { inverse: false }, 29: { strike: false },
}

function withCode(style: Style, code: number): Style {
  if (code === 0) return plain
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 }
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 }
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 }
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 }
  if (code === 39) return without(style, 'fg')
  if (code === 49) return without(style, 'bg')
  return { ...style, ...attributes[code] }
}

function without(style: Style, member: 'fg' | 'bg'): Style {
  const { [member]: _, ...rest } = style
  return rest
}
