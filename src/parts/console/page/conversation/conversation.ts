/** The view of one conversation. */
import type { Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import type { View } from '../router.ts'

export interface ConversationContext {
  readonly api: Api
  readonly id: string
  /** Goes to another view, by its path: `/settings`. */
  readonly navigate: (path: string) => void
}

export function openConversation(root: HTMLElement, context: ConversationContext): View {
  fill(root, element('p', {}, `Conversation ${context.id}`))
  return { close: () => undefined }
}
