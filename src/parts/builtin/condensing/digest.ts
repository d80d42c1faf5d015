/**
 * Messages as one text of limited length, for a model that is to summarize them.
 *
 * Every part begins with a line of its own that has a mark in it, which nobody who wrote a message could know: so no text
 * can pass for a part of another kind. When the whole would be too long, the longest parts lose their middles. Thoughts
 * and images are left out.
 */
import type { Message } from '../../../schema/generated/values.ts'

export interface DigestOptions {
  readonly mark: string
  /** Of the parts; their first lines come on top. */
  readonly limitChars: number
}

export function digest(messages: readonly Message[], { mark, limitChars }: DigestOptions): string {
  const texts = messages.map(textOf)
  const limit = partLimit(texts.map(({ length }) => length), limitChars)
  return messages.map((message, place) => `${mark} ${titleOf(message)}\n${shortened(texts[place] ?? '', limit)}`).join('\n\n')
}

/** Beginning and end of a text that is too long. */
export function shortened(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text
  const half = Math.floor(limitChars / 2)
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters are left out here]\n${text.slice(text.length - half)}`
}

/** How long a part may be at most, so that all of them fit: short ones leave their room to the others. */
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
