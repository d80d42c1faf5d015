/**
 * Finds where and why a text is not JSON (RFC 8259). The message of `JSON.parse` may lack the position, and may quote a
 * secret in the text.
 *
 * Offsets count UTF-16 code units from 0. The text is read one character at a time, which is slow for megabytes.
 */

export interface JsonFault {
  readonly offset: number
  readonly reason: string
}

/** The token that may come next. With `first_value` or `first_key`, the array or object may also end. */
type Expected = 'value' | 'first_value' | 'key' | 'first_key' | 'colon' | 'after_value'

/** Returns the first fault of a text; undefined if the text is JSON. */
export function findJsonFault(text: string): JsonFault | undefined {
  const closers: string[] = []
  let expected: Expected = 'value'
  let offset = skipSpace(text, 0)
  while (offset < text.length || expected !== 'after_value' || closers.length > 0) {
    const char = text[offset]
    const closer = closers.at(-1)
    if (expected === 'colon') {
      if (char !== ':') return { offset, reason: 'expected ":"' }
      expected = 'value'
      offset++
    } else if (expected !== 'value' && expected !== 'key' && char !== undefined && char === closer) {
      closers.pop()
      expected = 'after_value'
      offset++
    } else if (expected === 'after_value') {
      if (closer === undefined) return { offset, reason: 'expected the end of the text' }
      if (char !== ',') return { offset, reason: `expected "," or "${closer}"` }
      expected = closer === '}' ? 'key' : 'value'
      offset++
    } else if (expected === 'key' || expected === 'first_key') {
      if (char !== '"') return { offset, reason: 'expected a property name in double quotes' }
      const end = endOfString(text, offset)
      if (typeof end !== 'number') return end
      expected = 'colon'
      offset = end
    } else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']')
      expected = char === '{' ? 'first_key' : 'first_value'
      offset++
    } else {
      const end = char === '"' ? endOfString(text, offset) : endOfLiteral(text, offset)
      if (typeof end !== 'number') return end
      expected = 'after_value'
      offset = end
    }
    offset = skipSpace(text, offset)
  }
  return undefined
}

function skipSpace(text: string, start: number): number {
  let offset = start
  while (offset < text.length && ' \t\n\r'.includes(text.charAt(offset))) offset++
  return offset
}

/** Returns the offset after the closing quote, or the fault of the string. */
function endOfString(text: string, start: number): number | JsonFault {
  for (let offset = start + 1; offset < text.length; offset++) {
    const char = text.charAt(offset)
    if (char === '"') return offset + 1
    if (char < ' ') return { offset, reason: 'expected no control character in a string' }
    if (char !== '\\') continue
    const escape = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(offset + 1, offset + 6))
    if (escape === null) return { offset, reason: 'expected a valid escape sequence' }
    offset += escape[0].length
  }
  return { offset: start, reason: 'expected the string to end' }
}

/** Returns the offset after the number, `true`, `false` or `null` at `start`; a fault if none of them is there. */
function endOfLiteral(text: string, start: number): number | JsonFault {
  let end = start
  while (end < text.length && !' \t\n\r,:[]{}"'.includes(text.charAt(end))) end++
  try {
    JSON.parse(text.slice(start, end))
    return end
  } catch {
    return { offset: start, reason: 'expected a value' } // `JSON.parse` refused the literal.
  }
}
