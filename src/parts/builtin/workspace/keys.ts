/**
 * The names of keys and the bytes that a terminal sends for them (contract/payloads.md, TerminalAction; ECMA-48 and
 * xterm's defaults).
 *
 * `C-` with a letter, or with one of `@[\]^_`, is a control key.
 */
const keys: ReadonlyMap<string, string> = new Map([
  ['UP', '\x1b[A'],
  ['DOWN', '\x1b[B'],
  ['RIGHT', '\x1b[C'],
  ['LEFT', '\x1b[D'],
  ['HOME', '\x1b[H'],
  ['END', '\x1b[F'],
  ['PGUP', '\x1b[5~'],
  ['PGDN', '\x1b[6~'],
  ['TAB', '\t'],
  ['ESC', '\x1b'],
  ['BS', '\x7f'],
  ['ENTER', '\r'],
])

/** Returns the bytes of the key with this name; undefined when no key has the name. */
export function keyBytes(name: string): string | undefined {
  const letter = /^C-([A-Za-z\\\]^_@[])$/.exec(name)?.[1]
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 0x1f)
  return keys.get(name)
}
