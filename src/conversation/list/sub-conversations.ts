/**
 * Lets a part (`part.ts`) run sub-agents, each in a conversation of its own below the parent's.
 *
 * A sub-agent works in the parent's folder with the parent's secrets, hooks and security analyzer.
 */
import {
  toStartConversationRequest, type Agent, type ConfirmationPolicy,
} from '../../schema/generated/conversations.ts'
import type { JsonObject } from '../../base/json.ts'
import { runSub, type SubEnd, type SubRun } from './sub-run.ts'
import { settleRequest, type CreationDeps } from './creation.ts'
import type { ConversationService } from './service.ts'

export interface SubConversations {
  /**
   * Creates a sub-agent's conversation and returns its id.
   * @throws the errors of `settleRequest`, `ConversationService.create`
   */
  create(parentId: string, draft: SubDraft): Promise<string>
  /**
   * Sends a message to the sub-agent in the conversation `id`. Returns how its run ended.
   * @throws AppError `not_found`; the errors of `runSub`
   */
  run(id: string, run: SubRun): Promise<SubEnd>
  /** Sets the confirmation policy of a sub-agent. @throws AppError `not_found`; the errors of `Gate.write` */
  setPolicy(id: string, policy: JsonObject): Promise<void>
  /** Returns the number of conversations whose parent has this id. @throws AppError `not_found` */
  count(parentId: string): Promise<number>
  /**
   * Returns the security analyzer of a conversation; null without one.
   * @throws the errors of `ConversationService.open`
   */
  analyzerOf(id: string): Promise<JsonObject | null>
}

export interface SubDraft {
  readonly agent: Agent
  readonly policy: ConfirmationPolicy
  readonly title: string
  readonly tags: Readonly<Record<string, string>>
  readonly maxIterations: number
  /** The limit of the sub-agent's cost in US dollars; undefined for no limit of its own. */
  readonly budget: number | undefined
}

/** Returns the object that parts use. Each method calls `core`, because parts may start before the service exists. */
export function subConversations(
  core: () => { readonly service: ConversationService; readonly creation: CreationDeps },
): SubConversations {
  return {
    async create(parentId, { agent, policy, title, tags, maxIterations, budget }) {
      const { service, creation } = core()
      const parent = (await service.open(parentId)).state
      const request = toStartConversationRequest({
        agent,
        confirmation_policy: policy,
        workspace: { working_dir: parent.working_dir },
        parent_conversation_id: parentId,
        max_iterations: maxIterations,
        stuck_detection: parent.stuck_detection,
        autotitle: false,
        tags,
        ...(parent.hook_config === null ? {} : { hook_config: parent.hook_config }),
        ...(budget === undefined ? {} : { max_budget_per_task: budget }),
      })
      const created = await settleRequest(request, creation, undefined, parent.made_by)
      const inherited = {
        secrets: { ...created.secrets, ...parent.secrets },
        security_analyzer: parent.security_analyzer,
      }
      const { conversation } = await service.create({ ...created, ...inherited })
      await conversation.patch({ title })
      return conversation.id
    },
    run: async (id, run) => runSub(await core().service.open(id), run),
    setPolicy: async (id, policy) => (await core().service.open(id)).setConfirmationPolicy(policy),
    async count(parentId) {
      const { sub_conversation_ids: ids } = await core().service.info(parentId, false)
      return Array.isArray(ids) ? ids.length : 0
    },
    analyzerOf: async (id) => (await core().service.open(id)).state.security_analyzer,
  }
}
