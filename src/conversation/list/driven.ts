/** Lets a part create and drive conversations, as requests of clients do. */
import type { StartConversationRequest } from '../../schema/generated/conversations.ts'
import type { Conversation } from '../conversation.ts'
import { settleRequest, type CreationDeps } from './creation.ts'
import type { ConversationService } from './service.ts'

export interface DrivenConversations {
  /**
   * Creates a conversation. `madeBy` is the name of the named key of the client. @throws AppError as a create request
   */
  create(request: StartConversationRequest, madeBy?: string): Promise<Conversation>
  /** Opens a conversation. @throws AppError `not_found` */
  open(id: string): Promise<Conversation>
}

/** Returns the object for parts. Its methods call `core`, because the service is made after the parts have started. */
export function drivenConversations(
  core: () => { readonly service: ConversationService; readonly creation: CreationDeps },
): DrivenConversations {
  return {
    async create(request, madeBy) {
      const { service, creation } = core()
      return (await service.create(await settleRequest(request, creation, undefined, madeBy))).conversation
    },
    open: (id) => core().service.open(id),
  }
}
