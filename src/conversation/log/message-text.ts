/**
 * Joins the texts of a message in their order. Images are left out, so a model must not get this text in place of the
 * message.
 */
import type { Content } from '../../schema/generated/values.ts'

export function textIn(content: readonly Content[], separator = '\n'): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator)
}
