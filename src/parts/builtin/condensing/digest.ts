/**
 * Renders messages as one text of limited length, for a model that summarizes them. Each message is a part of the text.
 *
 * Each part begins with a line of a random mark and the role or the tool's name. No author of a message knows the mark,
 * so no text can imitate the beginning of a part. When the text is too long, the longest parts lose their middles.
 * Thinking is left out, and an image becomes a placeholder.
 */
import type { Message } from '../../../schema/generated/values.ts'

export interface DigestOptions {
  readonly mark: string
  /** The most characters of all parts together. The parts' first lines and notes about missing middles do not count. */
  readonly limitChars: number
}

export function digest(messages: readonly Message[], { mark, limitChars }: DigestOptions): string {
  const texts = messages.map(textOf)
  const limit = partLimit(
    texts.map(({ length }) => length), limitChars,
  )
  return messages
    .map((message, place) => `${mark} ${titleOf(message)}\n${shortened(texts[place] ?? '', limit)}`)
    .join('\n\n')
}

/** Returns a text of at most `limitChars` whole, and a longer text as its beginning, a note and its end. */
export function shortened(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text
  const half = Math.floor(limitChars / 2)
  const note = `[${text.length - 2 * half} characters are left out here]`
  return `${text.slice(0, half)}\n${note}\n${text.slice(text.length - half)}`
}

/** Returns the length at which parts are cut so that all fit; Infinity when none is cut. Short parts stay whole. */
function partLimit(lengths: readonly number[], limitChars: number): number {
  let room = limitChars
  const sorted = [...lengths].sort((one, other) => one - other)
  for (const [place, length] of sorted.entries()) {
    const share = Math.floor(room / (sorted.length - place))
    if (length > share) return share
    room -= length
  }
  return Infinity
}

function titleOf({ role, name }: Message): string {
  return role === 'tool' ? `result of ${name ?? 'a tool'}` : role
}

function textOf({ content, tool_calls }: Message): string {
  const said = content.map((part) => (part.type === 'text' ? part.text : '[image]'))
  const calls = (tool_calls ?? []).map(({ name, arguments: args }) => `[calls ${name} with ${args}]`)
  return [...said, ...calls].join('\n').trim()
}
