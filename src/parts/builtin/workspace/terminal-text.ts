/**
 * Converts terminal output (ECMA-48) into plain text. The chunks of output may be cut at any character.
 *
 * Carriage returns, backspaces, cursor moves and erasures are applied within the current line. A move to another line
 * or an erasure of the display ends the current line. An operating system command that begins with `markPrefix` is a
 * mark. Other sequences are dropped.
 */
export interface TerminalText {
  /** Adds a chunk of output. Returns the text that can no longer change, and the marks that this chunk completes. */
  push(chunk: string): TerminalPiece
  /** Returns the text of the current line, and begins an empty line. */
  takeLine(): string
}

export interface TerminalPiece {
  readonly text: string
  /** The marks without their prefix, in order. */
  readonly marks: readonly string[]
}

export interface TerminalTextOptions {
  readonly markPrefix: string
  /** The length above which `push` returns a line although the line could still change. Default 8,192 characters. */
  readonly lineLimitChars?: number
}

/** The most characters of an escape sequence that are kept. Further characters are dropped. */
const sequenceLimitChars = 1000

const ESC = '\x1b'
const control = /[\x00-\x1f\x7f-\x9f]/g

type State = 'text' | 'escape' | 'skip-one' | 'csi' | 'string'

export function createTerminalText({ markPrefix, lineLimitChars = 8192 }: TerminalTextOptions): TerminalText {
  const line = new OpenLine()
  let state: State = 'text'
  let sequence = ''
  let marks: string[] = []

  const endString = (): void => {
    state = 'text'
    if (sequence.startsWith(`]${markPrefix}`)) marks.push(sequence.slice(markPrefix.length + 1))
  }
  const collect = (char: string): void => {
    if (sequence.length < sequenceLimitChars) sequence += char
  }
  const step = (char: string): string => {
    if (char === '\x18' || char === '\x1a') state = 'text'
    else if (char === ESC) {
      // Within a control string, ESC begins the terminator (ST) or another sequence. In either case the string ends.
      if (state === 'string') endString()
      state = 'escape'
    } else if (state === 'escape') {
      sequence = char
      state = stateAfterEscape(char)
    } else if (state === 'skip-one') state = 'text'
    else if (state === 'string') {
      if (char === '\x07') endString()
      else collect(char)
    } else if (char < ' ') return line.control(char)
    else if (state === 'csi') {
      collect(char)
      if (char < '@' || char > '~') return ''
      state = 'text'
      return line.sequence(sequence.slice(1))
    }
    return ''
  }

  return {
    push(chunk) {
      let text = ''
      for (let index = 0; index < chunk.length;) {
        if (state !== 'text') {
          text += step(chunk.charAt(index++))
          continue
        }
        const end = nextControl(chunk, index)
        line.write(chunk.slice(index, end))
        if (line.length > lineLimitChars) text += line.take()
        if (end < chunk.length) text += step(chunk.charAt(end))
        index = end + 1
      }
      const found = marks
      marks = []
      return { text, marks: found }
    },
    takeLine: () => line.take(),
  }
}

function nextControl(chunk: string, from: number): number {
  control.lastIndex = from
  return control.exec(chunk)?.index ?? chunk.length
}

function stateAfterEscape(char: string): State {
  if (char === '[') return 'csi'
  if (']PX^_'.includes(char)) return 'string'
  // After ESC and one of these characters, the sequence has one more character, such as the name of a character set.
  return ' #%()*+-./'.includes(char) ? 'skip-one' : 'text'
}

/** The current line and its cursor. `control` and `sequence` return the text that can no longer change. */
class OpenLine {
  #text = ''
  #cursor = 0

  get length(): number {
    return this.#text.length
  }

  write(text: string): void {
    const isAtEnd = this.#cursor === this.#text.length
    this.#text = isAtEnd
      ? this.#text + text
      : this.#text.slice(0, this.#cursor) + text + this.#text.slice(this.#cursor + text.length)
    this.#cursor += text.length
  }

  take(): string {
    const text = this.#text
    this.#text = ''
    this.#cursor = 0
    return text
  }

  control(char: string): string {
    if (char === '\n' || char === '\v' || char === '\f') return `${this.take()}\n`
    if (char === '\t') this.write('\t')
    if (char === '\r') this.#cursor = 0
    if (char === '\b') this.#moveTo(this.#cursor - 1)
    return ''
  }

  /** Applies a control sequence. @param sequence the parameters and the final character, without the introducer CSI */
  sequence(sequence: string): string {
    const first = Number.parseInt(sequence, 10)
    const count = Number.isNaN(first) || first === 0 ? 1 : first
    switch (sequence.at(-1)) {
      case 'C':
        return this.#moveTo(this.#cursor + count)
      case 'D':
        return this.#moveTo(this.#cursor - count)
      case 'G':
        return this.#moveTo(count - 1)
      case 'K':
        return this.#erase(Number.isNaN(first) ? 0 : first)
      case 'P':
        return this.#replace(count, '')
      case 'X':
        return this.#replace(count, ' '.repeat(Math.min(count, this.#text.length - this.#cursor)))
      case '@':
        return this.#replace(0, ' '.repeat(Math.min(count, 1000)))
      case 'A': case 'B': case 'E': case 'F': case 'H': case 'd': case 'f': case 'J':
        return this.#text === '' ? '' : `${this.take()}\n`
      default:
        return ''
    }
  }

  /** Moves the cursor within the line, at most to its end. */
  #moveTo(column: number): string {
    this.#cursor = Math.max(0, Math.min(column, this.#text.length))
    return ''
  }

  #replace(count: number, text: string): string {
    this.#text = this.#text.slice(0, this.#cursor) + text + this.#text.slice(this.#cursor + count)
    return ''
  }

  #erase(part: number): string {
    if (part === 0) this.#text = this.#text.slice(0, this.#cursor)
    if (part === 1) this.#text = ' '.repeat(this.#cursor) + this.#text.slice(this.#cursor)
    if (part === 2) this.#text = ' '.repeat(this.#cursor)
    return ''
  }
}
