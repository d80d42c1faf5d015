/**
 * A title for a conversation that has none (contract: conversations.md section 7).
 *
 * It is the first user message, shortened. A title from a model is not made here.
 */

const limit = 50

/** The text on one line, cut to 50 characters with `...` where it is longer. Undefined for a text without words. */
export function titleOf(text: string): string | undefined {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line === '') return undefined
  const characters = [...line]
  return characters.length <= limit ? line : `${characters.slice(0, limit - 3).join('')}...`
}
