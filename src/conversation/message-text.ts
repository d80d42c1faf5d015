/**
 * What a message says in words: its texts in their order. Images are left out without a trace, so this is not what a
 * model is shown.
 */
import type { Content } from '../schema/generated/values.ts'

export function textIn(content: readonly Content[], separator = '\n'): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator)
}
