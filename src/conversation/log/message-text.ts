/** Joins the texts of a message in their order. Images are left out. */
import type { Content } from '../../schema/generated/values.ts'

export function textIn(content: readonly Content[], separator = '\n'): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator)
}
