/**
 * The two origins of a conversation: a create request, or another conversation (a fork).
 *
 * A log begins with `Created`. The log of a fork also has `Forked`. Both are a format on disk: never rename a member.
 */
import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { KeyedRequest } from './requests.ts'

/** A create request with a value for each member that the client left out. Its secrets are encrypted. */
export interface Created {
  readonly id: string
  readonly created_at: string
  readonly agent: JsonObject
  readonly working_dir: string
  readonly confirmation_policy: JsonObject
  readonly security_analyzer: JsonObject | null
  readonly max_iterations: number
  readonly stuck_detection: boolean
  readonly autotitle: boolean
  readonly tags: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, JsonObject>>
  readonly hook_config: JsonObject | null
  readonly client_tools: readonly JsonValue[]
  /** Definitions of sub-agents from plugins and from the request. Absent in older logs. */
  readonly agent_definitions?: readonly JsonValue[]
  readonly parent_conversation_id: string | null
  readonly launched_agent_profile: JsonObject | null
  /** The budget in US dollars; null for no limit. Absent in older logs. */
  readonly max_budget_per_task?: number | null
  /** Key, digest and time of the create request, if it had an idempotency key. */
  readonly request?: KeyedRequest
  /** The name of the named API key (parts/keys) that made the conversation; absent for a client without one. */
  readonly made_by?: string | undefined
  /** The LLM profile whose model makes the title; null for no profile. Absent in older logs. */
  readonly title_llm_profile?: string | null
}

/** The record that turns the log lines copied from another conversation into a fork. */
export interface Forked {
  readonly id: string
  readonly created_at: string
  readonly from_conversation_id: string
  readonly from_event_id: string | null
  readonly leaf_event_id: string | null
  readonly title: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly reset_metrics: boolean
  /** The name of the named API key (parts/keys) that made the fork; absent for a client without one. */
  readonly made_by?: string | undefined
}
