/**
 * Decodes and encodes text files. An edit keeps the bytes outside the replaced ranges.
 *
 * Encodings are UTF-8, UTF-16 with a byte order mark, and single bytes (ISO 8859-1). The line ends of an inserted
 * text become the file's most frequent line end.
 */
import { AppError } from '../../../base/errors.ts'

export type Encoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | 'single bytes'

export interface TextFile {
  readonly encoding: Encoding
  /** The text with the file's line ends, without a byte order mark. */
  readonly raw: string
  /** `raw` with LF in place of each CRLF. */
  readonly text: string
  readonly lineEnd: '\n' | '\r\n'
}

/** A range of `text`, from `start` to before `end`, and the text `by` that replaces the range. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly by: string
}

/** Returns the text in these bytes; undefined when they are not text. */
export function decodeText(bytes: Buffer): TextFile | undefined {
  for (const encoding of encodings) {
    const mark = marks[encoding]
    if (!bytes.subarray(0, mark.length).equals(mark)) continue
    const raw = decoders[encoding](bytes.subarray(mark.length))
    // Bytes that begin with a byte order mark are text in that encoding or no text. So try no other encoding.
    if (raw !== undefined || mark.length > 0) return raw === undefined ? undefined : textFile(encoding, raw)
  }
  return undefined
}

/** Returns the text in UTF-8. @throws AppError `invalid_input` for a lone surrogate */
export function encodeText(text: string): Buffer {
  return encode('utf-8', text)
}

/**
 * Returns the file's bytes after the replacements, which must be in order and must not overlap.
 * @throws AppError `invalid_input` for a character that the encoding lacks, and for a lone surrogate
 */
export function replaceText(file: TextFile, replacements: readonly Replacement[]): Buffer {
  const points = rawPositions(file.raw, replacements.flatMap(({ start, end }) => [start, end]))
  const pieces: string[] = []
  let done = 0
  for (const [index, { by }] of replacements.entries()) {
    pieces.push(file.raw.slice(done, points[2 * index]), withLineEnd(by, file.lineEnd))
    done = points[2 * index + 1] ?? done
  }
  return encode(file.encoding, pieces.join('') + file.raw.slice(done))
}

/** Returns the text with LF in place of each CRLF. Other carriage returns stay. */
export function normalLineEnds(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** Returns whether the text has control characters that are unusual in text files. */
export function looksBinary(text: string): boolean {
  return /[\0-\x06\x0e-\x1a\x1c-\x1f]/.test(text)
}

const encodings: readonly Encoding[] = ['utf-8-bom', 'utf-16le', 'utf-16be', 'utf-8', 'single bytes']

const marks: Readonly<Record<Encoding, Buffer>> = {
  'utf-8-bom': Buffer.from([0xef, 0xbb, 0xbf]),
  'utf-16le': Buffer.from([0xff, 0xfe]),
  'utf-16be': Buffer.from([0xfe, 0xff]),
  'utf-8': Buffer.alloc(0),
  'single bytes': Buffer.alloc(0),
}

const decoders: Readonly<Record<Encoding, (bytes: Buffer) => string | undefined>> = {
  'utf-8-bom': decodeUtf8,
  'utf-16le': decodeUtf16,
  'utf-16be': (bytes) => (bytes.length % 2 === 0 ? decodeUtf16(Buffer.from(bytes).swap16()) : undefined),
  'utf-8': decodeUtf8,
  'single bytes': (bytes) => {
    const text = bytes.toString('latin1')
    return looksBinary(text) ? undefined : text
  },
}

function decodeUtf8(bytes: Buffer): string | undefined {
  return bytes.includes(0) ? undefined : decodeWith('utf-8', bytes)
}

function decodeUtf16(bytes: Buffer): string | undefined {
  const text = decodeWith('utf-16le', bytes)
  return text?.includes('\0') ? undefined : text
}

function decodeWith(label: string, bytes: Buffer): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined // The bytes are not in this encoding.
  }
}

function encode(encoding: Encoding, text: string): Buffer {
  if (/\p{Surrogate}/u.test(text)) {
    throw new AppError('invalid_input', 'Cannot write the text: it holds half of a character (a lone surrogate)')
  }
  const mark = marks[encoding]
  switch (encoding) {
    case 'utf-8': case 'utf-8-bom': return Buffer.concat([mark, Buffer.from(text)])
    case 'utf-16le': return Buffer.concat([mark, Buffer.from(text, 'utf16le')])
    case 'utf-16be': return Buffer.concat([mark, Buffer.from(text, 'utf16le').swap16()])
    case 'single bytes': return encodeSingleBytes(text)
  }
}

function encodeSingleBytes(text: string): Buffer {
  const wide = /[^\0-\xff]/u.exec(text)
  if (wide === null) return Buffer.from(text, 'latin1')
  throw new AppError(
    'invalid_input',
    `Cannot write "${wide[0]}" into this file: it is not UTF-8, and its encoding has one byte for a character`,
  )
}

function textFile(encoding: Encoding, raw: string): TextFile {
  const text = normalLineEnds(raw)
  const crlf = raw.length - text.length
  const all = text.split('\n').length - 1
  return { encoding, raw, text, lineEnd: crlf > all - crlf ? '\r\n' : '\n' }
}

function withLineEnd(text: string, lineEnd: string): string {
  const normal = normalLineEnds(text)
  return lineEnd === '\n' ? normal : normal.replaceAll('\n', lineEnd)
}

/** Converts ascending positions in `text` to positions in `raw`: each CRLF before a position adds one character. */
function rawPositions(raw: string, positions: readonly number[]): number[] {
  let at = 0
  let passed = 0
  return positions.map((position) => {
    for (let next = raw.indexOf('\r\n', at); next >= 0 && next - passed < position; next = raw.indexOf('\r\n', at)) {
      at = next + 2
      passed++
    }
    return position + passed
  })
}
