/**
 * Renders messages as one text of limited length, for a model that summarizes them.
 *
 * Each message begins with a line with a random mark, so that no message can imitate the beginning of another. If the
 * text would be too long, the longest messages lose their middles.
 */
import type { Message } from '../../../schema/generated/values.ts'

export interface DigestOptions {
  readonly mark: string
  /** The most characters of all messages together. Lines with marks and notes about left-out text do not count. */
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

/** Returns the text. A text over `limitChars` loses its middle. */
export function shortened(text: string, limitChars: number): string {
  if (text.length <= limitChars) return text
  const half = Math.floor(limitChars / 2)
  const note = `[${text.length - 2 * half} characters are left out here]`
  return `${text.slice(0, half)}\n${note}\n${text.slice(text.length - half)}`
}

/** Returns the length to which longer messages are cut to fit `limitChars` together; Infinity if no cut is needed. */
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
