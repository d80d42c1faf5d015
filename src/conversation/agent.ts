/**
 * The contract between a conversation and whatever drives it: the consumer owns it, `agents/` implements it.
 *
 * A conversation runs at most one turn at a time. A turn gets the user messages that no turn has served yet and a
 * `Turn` to report through; it ends by returning, never by throwing for an expected failure. When `signal` is aborted the
 * agent stops its work and returns `stopped` once nothing of the turn runs any more: after that it reports nothing,
 * and the conversation drops what would still come. What the agent leaves unanswered, the conversation answers with an
 * AgentErrorEvent, so an implementation need not clean up the history behind itself.
 */
import type { MaskingStream } from '../base/masking.ts'
import type { JsonObject } from '../base/json.ts'
import type { ClientTool, ConfirmationPolicy, GoalVerdict } from '../schema/generated/conversations.ts'
import type { Event, EventDraft, MessageEvent } from '../schema/generated/events.ts'
import type { Message, TextContent } from '../schema/generated/values.ts'

/** One instance per open conversation. Starts its programs when the first turn needs them, not before. */
export interface Agent {
  /**
   * A stepping agent reads the history itself before each of its steps, so it sees what the user says during a run, and
   * it ends a turn between two steps when `turn.pausing` is aborted. Any other is cancelled in both cases.
   */
  readonly isStepping?: true
  /** What has to stand in the history before the first message of the user. */
  introduction?(): Promise<EventDraft>
  /** What goes into the history with a message of the user that is about to be recorded. Asked in the order of messages. */
  contextOf?(message: Message): Promise<MessageContext>
  /** Serves the messages of one turn. */
  runTurn(turn: Turn): Promise<TurnEnd>
  /** The confirmation policy has changed: apply it to what runs now (a session mode, say). */
  policyChanged(): void
  /** Switches the model for the turns that follow. @throws AppError `bad_request` when the agent refuses. */
  switchModel(model: string, signal: AbortSignal): Promise<void>
  /**
   * Switches the session mode (contract: settings 3.3) for what follows.
   * @throws AppError `bad_request` when the agent refuses, `invalid_input` for one that is more open than the policy.
   */
  switchMode(mode: string, signal: AbortSignal): Promise<void>
  /**
   * Sets an option of the agent's session beside mode and model, now and for the sessions that follow.
   * @throws AppError `bad_request` when the agent does not offer it, `invalid_input` when it is more open than the policy.
   */
  switchOption(id: string, value: string, signal: AbortSignal): Promise<void>
  /**
   * Answers a question from what the agent knows, without a trace in its work: no event, no change of anything.
   * @throws AppError `bad_request` when the agent cannot, `agent_failed`, `agent_timeout`.
   */
  askAside(question: string, signal: AbortSignal): Promise<AsideAnswer>
  /**
   * A title for a conversation that begins with this text, beside the work; undefined when there is no model to ask.
   * Rejects with the signal's reason when that is aborted.
   */
  makeTitle?(text: string, signal: AbortSignal): Promise<TitleAnswer> | undefined
  /** Judges from the history whether an objective is reached; without it the agent has no model that could. @throws Error */
  judgeGoal?(objective: string, signal: AbortSignal): Promise<GoalJudgement>
  /**
   * Condenses the history that the agent works from; asked for between turns only, and a turn that begins meanwhile waits
   * for it. @throws AppError `bad_request` without a condenser, `conflict` when there is too little, `agent_failed`.
   */
  condense?(work: CondensingWork): Promise<void>
  /** Ends everything the agent started, within its own grace time. Idempotent; nothing is left afterwards. */
  close(): Promise<void>
}

/** What goes into the history with a message. */
export interface MessageContext {
  readonly content: readonly TextContent[]
  /** Skills that the message calls for; those that the model has the text of are not given again. */
  readonly skills: readonly CalledSkill[]
}

export interface CalledSkill {
  readonly name: string
  /** For the model. */
  readonly text: string
}

/** What a conversation lends to its agent for as long as it is open. */
export interface AgentHost {
  readonly conversationId: string
  /** Absolute path; exists when the conversation is created, may have vanished since. */
  readonly workingDir: string
  /** A private folder of this conversation for the agent's own files (long outputs); created on first use by whoever writes. */
  readonly observationsDir: string
  /** A private folder of this conversation for what the agent's program keeps over its lives; created by whoever writes. */
  readonly agentDir: string
  /** As `readHookConfig` made it; null without hooks. */
  readonly hookConfig: JsonObject | null
  /** Tools that the client runs; their names differ from each other. */
  readonly clientTools: readonly ClientTool[]
  /** The events of the active branch, for an agent that works from the history. Each call begins at its beginning. */
  history(): History
  /** The ids of the newest tool calls in the history, oldest first. */
  toolCallIds(limit: number): Promise<readonly string[]>
  /** The agent as it is set at this moment, its secrets sealed. The same object until it is set anew. */
  settings(): JsonObject
  /** The rules of this moment for an agent that judges its own steps. */
  rules(): RunRules
  /** The policy of this moment. */
  policy(): ConfirmationPolicy
  /** Secrets of the conversation on top of the global ones, resolved; names are environment variable names. */
  secrets(signal: AbortSignal, wanted?: (name: string) => boolean): Promise<ReadonlyMap<string, string>>
  /** The names of the conversation's own secrets, which go before variables of its settings. */
  ownSecretNames(): ReadonlySet<string>
  /** What secrets there are, without looking their values up. */
  secretNames(): Promise<readonly NamedSecret[]>
  /**
   * Gives back a secret that was lent as a file and that the agent's program has changed, to be sealed where it came from.
   * False when the secret is another by now: then that one stays.
   */
  replaceSecret(change: SecretChange): Promise<boolean>
  /**
   * The agent has begun to work by itself: a run begins, or the one under way has another turn, with `Turn.isOwn`, unless
   * a turn with messages comes first. Rejects when there can be none: then the agent has to end what it has begun.
   */
  beginRun(): Promise<void>
  /** What the agent kept with `keep` in an earlier life of this conversation. */
  kept(key: KeptKey): JsonObject | undefined
  /** Keeps private state: durable with the next commit, never served, at most a few KB. */
  keep(key: KeptKey, value: JsonObject): void
  /** Publishes one key of `agent_state` (contract: conversations.md section 11) when its value changes. */
  state(changes: JsonObject): void
  /** The model has asked for the text of a skill and is given it: shown as `invoked_skills`. */
  skillInvoked(name: string): void
  /** Replaces every known secret in a text that is about to be recorded. */
  mask(text: string): string
  /** The same for a text that comes in pieces. */
  maskingStream(): MaskingStream
  /** What was said and done, masked: all of it, or without the messages that no turn has served. The oldest is left out. */
  transcript(options: { readonly limitBytes: number; readonly upTo: 'served' | 'now' }): Promise<string>
}

export interface NamedSecret {
  readonly name: string
  readonly description: string | null
}

/** A secret that was lent, the value it had then, and the one that the program has made of it. */
export interface SecretChange {
  readonly name: string
  readonly lent: string
  readonly current: string
}

/** Reads the active branch, part by part. */
export interface History {
  /** What has become history since the last call; everything recorded before the call is in it. */
  next(): Promise<HistoryPart>
}

export interface HistoryPart {
  /** True when this part begins at the beginning: it is the first, or the head was moved and what was read before is void. */
  readonly isFresh: boolean
  readonly events: readonly Event[]
  /** What `keepResponse` kept, by the id of the response. */
  readonly responses: ReadonlyMap<string, JsonObject>
  /** What `keepCall` kept, by the id of the action; absent for none. */
  readonly calls?: ReadonlyMap<string, string>
  /** Messages of the user that came while the agent was answering an earlier one: id -> the event that answer begins with. */
  readonly late: ReadonlyMap<string, string>
  /** The agent was set anew (another model) when this many of the events had been recorded; undefined if it was not since. */
  readonly switchedAt?: number | undefined
}

export interface RunRules {
  readonly maxIterations: number
  readonly stuckDetection: boolean
  /** Whether risks that a model declares are believed. */
  readonly hasAnalyzer: boolean
  /** Why no step may begin any more; undefined while one may. */
  readonly budgetSpent: string | undefined
}

/** The names under which an agent may keep private state. A closed list: it is part of the format on disk. */
export type KeptKey = 'session' | 'usage' | 'provider_state'

/** What one turn works with and reports through. */
export interface Turn {
  /** The agent has begun this turn by itself (`AgentHost.beginRun`): it has no messages, and none is sent. */
  readonly isOwn: boolean
  /** User messages that no turn has served, oldest first. Empty when the user resumes a stopped run. */
  readonly messages: readonly MessageEvent[]
  readonly signal: AbortSignal
  /** Aborted when a stepping agent is to end the turn before its next step. */
  readonly pausing: AbortSignal
  /** Ids of the actions that waited for the user and are approved now. */
  readonly approved: readonly string[]
  /** The agent has got the user messages up to this event, also such as came during the turn. */
  served(messageId: string): void
  /** Keeps what a provider wants back with one of its answers: privately, beside the events of that answer. */
  keepResponse(id: string, state: JsonObject): void
  /** Keeps a recorded action as it is to be executed, sealed: privately, beside its event. */
  keepCall(actionId: string, sealed: string): void
  /** Records one event; its place in the history is the order of calls. Ignored once the turn has ended. */
  record(draft: EventDraft): Recorded
  /** Sends a piece of text to live readers only; it is never stored. Secrets in it are masked, also across pieces. */
  delta(piece: { readonly content?: string; readonly reasoning_content?: string }): void
  /** Asks the user. Resolves with the answer, with `denied` at the deadline, with `cancelled` when the turn is stopped or `withdrawn` aborts. */
  ask(question: QuestionDraft, withdrawn?: AbortSignal): Promise<Answer>
  /** Adds to the usage figures of one usage id; publishes `stats`. */
  usage(report: UsageReport): void
  /** What reading more input has to wait for: the log, when a flood of records has left it behind; mostly nothing. */
  ready(): Promise<void> | undefined
}

export interface Recorded {
  readonly id: string
  /** Resolves when the event is on disk and published. Rejects when the log has failed. */
  durable(): Promise<void>
}

export interface QuestionDraft {
  readonly toolCallId: string
  readonly title: string
  /** The ActionEvent that says all of it; it was recorded before. */
  readonly actionId?: string
  /** Absent when no command would run, or none is known. */
  readonly command?: string
  readonly diff?: QuestionDiff
  readonly locations?: readonly QuestionLocation[]
  readonly options: readonly QuestionOption[]
}

export interface QuestionDiff {
  readonly path: string
  /** Null for a file that is new. */
  readonly old_text: string | null
  /** Null for a file that is deleted or moved away. */
  readonly new_text: string | null
  /** How many other files would be changed too. */
  readonly more: number
}

export interface QuestionLocation {
  readonly path: string
  readonly line: number | null
}

/** ACP's own shape (session/request_permission). */
export interface QuestionOption {
  readonly id: string
  readonly name: string
  readonly kind: string
}

/** `by` is absent where the user denied it. */
export interface Denied {
  readonly outcome: 'denied'
  readonly reason: string
  readonly by?: 'deadline'
}

export type Answer =
  | { readonly outcome: 'accepted' }
  | Denied
  | { readonly outcome: 'cancelled' }

export interface GoalJudgement {
  readonly verdict: GoalVerdict
  readonly usage: UsageReport
}

/** What a condensation works with and reports through. */
export interface CondensingWork extends Pick<Turn, 'signal' | 'usage'> {
  record(draft: EventDraft): void
}

export interface AsideAnswer {
  readonly text: string
  readonly usage: UsageReport
}

/** The title as the model gave it, or why it gave none, as ConversationErrorEvent tells it. */
export type TitleAnswer = AsideAnswer | { readonly failure: { readonly code: string; readonly detail: string } }

/** Figures of one step. An absent figure is unknown, which is not zero. */
export interface UsageReport {
  readonly usageId: string
  readonly model: string
  /** In US dollars. */
  readonly cost?: number
  /** Whether the agent told the cost of this step, as it is the case by default, or something that it follows from. */
  readonly costSource?: 'reported' | 'derived'
  readonly promptTokens?: number
  readonly completionTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  readonly contextWindow?: number
  readonly perTurnTokens?: number
}

/**
 * How a turn ended. `served` says whether the agent has got the turn's messages: what it has not got is offered again
 * to the next turn.
 */
export type TurnEnd =
  | { readonly outcome: 'finished'; readonly served: true }
  | { readonly outcome: 'stopped'; readonly served: boolean }
  /** Only for agents that can answer later, from the history alone: pending actions wait for the user, also over a restart. */
  | { readonly outcome: 'waiting'; readonly served: true }
  /** It goes round in circles. */
  | { readonly outcome: 'stuck'; readonly served: true }
  | { readonly outcome: 'failed'; readonly served: boolean; readonly code: string; readonly detail: string }
