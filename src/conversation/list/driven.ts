/** Lets a part (`part.ts`) create and drive conversations, as requests of clients do. */
import type { StartConversationRequest } from '../../schema/generated/conversations.ts'
import type { Conversation } from '../conversation.ts'
import type { Created } from '../log/origins.ts'
import { settleRequest, type CreationDeps } from './creation.ts'
import { chooseId } from './ids.ts'
import type { ConversationService } from './service.ts'

export interface DrivenConversations {
  /**
   * Creates a conversation. `madeBy` is the name of the client's named API key (parts/keys). `admit` gets the id before
   * anything is made, and may refuse the id. @throws the errors of a create request and of `admit`
   */
  create(request: StartConversationRequest, madeBy?: string, admit?: (id: string) => void): Promise<Conversation>
  /** Opens a conversation. @throws the errors of `ConversationService.open` */
  open(id: string): Promise<Conversation>
}

/** Returns the object that parts use. Each method calls `core`, because parts may start before the service exists. */
export function drivenConversations(
  core: () => { readonly service: ConversationService; readonly creation: CreationDeps },
): DrivenConversations {
  return {
    async create(request, madeBy, admit) {
      const { service, creation } = core()
      const id = chooseId(request.conversation_id, 'conversation_id', creation.shard)
      admit?.(id)
      const settle = (): Promise<Created> =>
        settleRequest({ ...request, conversation_id: id }, creation, undefined, madeBy)
      await service.creations.once({ keyed: undefined, id, settle })
      return service.open(id)
    },
    open: (id) => core().service.open(id),
  }
}
