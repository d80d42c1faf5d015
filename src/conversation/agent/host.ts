/** The interface through which an agent uses its conversation. `run/host` implements it. */
import type { MaskingStream } from '../../base/masking.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ClientTool, ConfirmationPolicy, SecurityAnalyzer } from '../../schema/generated/conversations.ts'
import type { Event } from '../../schema/generated/events.ts'
import type { AgentDefinition } from '../../schema/generated/agent-definitions.ts'

/** The values and methods of an open conversation that its agent may use. */
export interface AgentHost {
  readonly conversationId: string
  /** An absolute path. The folder may have vanished since the conversation was created. */
  readonly workingDir: string
  /** A private folder of this conversation for the agent's files, such as long outputs. The first writer creates it. */
  readonly observationsDir: string
  /** A private folder for files that the agent's program keeps across restarts. The first writer creates it. */
  readonly agentDir: string
  /** The hooks of the create request (`readHookConfig`) and of plugins; null without hooks. */
  readonly hookConfig: JsonObject | null
  /** Tools that the client runs. Their names are unique. */
  readonly clientTools: readonly ClientTool[]
  /** The definitions of sub-agents from the create request and its plugins. Their names are unique. */
  readonly agentDefinitions: readonly AgentDefinition[]
  /** Returns an object that reads the active branch, from its first event on. */
  history(): History
  /** Returns the ids of the newest tool calls of all branches, at most `limit`, oldest first. */
  toolCallIds(limit: number): Promise<readonly string[]>
  /** Returns the current agent settings with sealed secrets. Returns the same object until the settings change. */
  settings(): JsonObject
  /** Returns the limits and checks that now apply to the agent's next step. */
  rules(): RunRules
  /** Takes a step from the limit of the parent agent. Returns false when no step is left; true without a parent. */
  takeStep(): boolean
  policy(): ConfirmationPolicy
  /**
   * Returns the values of secrets by name: all, or those whose name `wanted` accepts. A secret of the conversation wins
   * over a global secret of the same name.
   */
  secrets(signal: AbortSignal, wanted?: (name: string) => boolean): Promise<ReadonlyMap<string, string>>
  /** Returns the names of the conversation's own secrets, which win over variables of the agent's settings. */
  ownSecretNames(): ReadonlySet<string>
  /** Lists the secrets without looking up their values. */
  secretNames(): Promise<readonly NamedSecret[]>
  /**
   * Stores a secret's new value, which the agent's program has set. Stores nothing and returns false if the stored
   * value is neither the value that the program was given (`change.lent`) nor the new value.
   */
  replaceSecret(change: SecretChange): Promise<boolean>
  /**
   * Reports that the agent began to work by itself. A turn for this work follows in the current run or in a new run.
   * Rejects when no run may begin: then the agent must end that work.
   */
  beginRun(): Promise<void>
  /** Returns the value that `keep` stored last, even before a restart of the server; undefined without a value. */
  kept(key: KeptKey): JsonObject | undefined
  /** Stores private state, which should be at most a few KB. Clients never get it. */
  keep(key: KeptKey, value: JsonObject): void
  /**
   * Changes keys of `agent_state` (contract/conversations.md, section 11) and publishes `agent_state` if a value
   * differs.
   */
  state(changes: JsonObject): void
  /** Records that the model got the text of a skill. Clients see the name in `invoked_skills`. */
  skillInvoked(name: string): void
  /** Returns a text with its secrets masked (base/masking). */
  mask(text: string): string
  /** Returns a masker for a text that arrives in pieces. */
  maskingStream(): MaskingStream
  /**
   * Returns the masked transcript of the conversation, without the oldest events if it would be longer than
   * `limitBytes`. `upTo: 'served'` leaves out messages that no turn has served.
   */
  transcript(options: { readonly limitBytes: number; readonly upTo: 'served' | 'now' }): Promise<string>
}

export interface NamedSecret {
  readonly name: string
  readonly description: string | null
}

/** A secret that the agent's program has changed: from `lent`, the value that the server gave it, to `current`. */
export interface SecretChange {
  readonly name: string
  readonly lent: string
  readonly current: string
}

/** Reads the active branch of the conversation's events, part by part. */
export interface History {
  /** Returns the part since the previous call. Returns the whole branch at first, and after its head has moved. */
  next(): Promise<HistoryPart>
}

export interface HistoryPart {
  /** True when this part begins with the first event of the branch. Earlier parts are then void. */
  readonly isFresh: boolean
  readonly events: readonly Event[]
  /** The values that `Turn.keepResponse` stored in this part of the log, by the id of the response. */
  readonly responses: ReadonlyMap<string, JsonObject>
  /** The values that `Turn.keepCall` stored in this part of the log, by the id of the action. Absent means none. */
  readonly calls?: ReadonlyMap<string, string>
  /** User messages that came too late for an LLM response: maps their ids to the id of the response's first event. */
  readonly late: ReadonlyMap<string, string>
  /** The number of `events` before the last change of the agent's settings in this part; undefined without a change. */
  readonly switchedAt?: number | undefined
}

export interface RunRules {
  readonly maxIterations: number
  readonly stuckDetection: boolean
  /** The security analyzer, which judges the risk of actions; null for none and for an unknown analyzer. */
  readonly analyzer: SecurityAnalyzer | null
  /** The reason why the budget allows no further step; undefined while it allows one. */
  readonly budgetSpent: string | undefined
}

/** Names under which an agent may keep private state. The list is closed: the names are part of the format on disk. */
export const keptKeys = ['session', 'usage', 'provider_state'] as const
export type KeptKey = (typeof keptKeys)[number]
