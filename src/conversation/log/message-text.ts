/**
 * Returns the texts of a message in their order, without its images. Do not show a model this text in place of the
 * message, because the text does not say that there were images.
 */
import type { Content } from '../../schema/generated/values.ts'

export function textIn(content: readonly Content[], separator = '\n'): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(separator)
}
