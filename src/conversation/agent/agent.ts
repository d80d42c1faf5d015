/**
 * The contract between a conversation and its agent.
 *
 * A conversation runs at most one turn at a time. In a turn, the agent works on the user messages that no earlier turn
 * has served, and reports through `Turn`. When `Turn.signal` is aborted, the agent ends all work of the turn and
 * returns `stopped`.
 */
import type { JsonObject } from '../../base/json.ts'
import type { GoalVerdict } from '../../schema/generated/conversations.ts'
import type { EventDraft, MessageEvent } from '../../schema/generated/events.ts'
import type { Message, TextContent } from '../../schema/generated/values.ts'
import type { AgentHost } from './host.ts'

/** The facts about a kind of agent, built-in or external, that a conversation needs. */
export interface AgentKind {
  /** True for the built-in agent. `introduction`, `contextOf`, `makeTitle` and `judgeGoal` are called only if true. */
  readonly readsMessages: boolean
  /** True when the agent itself calls the model that its settings name. A client can then switch to another model. */
  readonly takesModel: boolean
  /** True when the agent goes on from the recorded history: then its actions can wait for the user between two runs. */
  readonly waitsBetweenRuns: boolean
  /** True when the agent uses plugins, definitions of sub-agents and additional instructions of a create request. */
  readonly takesAdditions: boolean
  /** Creates the agent of a conversation. Starts no program. @throws AppError, such as `part_missing` */
  create(host: AgentHost): Agent
}

/** The agent of an open conversation. */
export interface Agent {
  /**
   * True for a stepping agent, which reads the history before each step: a new message reaches the agent's next step.
   * A pause (`Turn.pausing`) ends the turn before the agent's next step.
   */
  readonly isStepping?: true
  /** Returns the SystemPromptEvent, which must precede the first user message. */
  introduction?(): Promise<EventDraft>
  /** Returns the content and skills to record with a user message. Called before the message is recorded. */
  contextOf?(message: Message): Promise<MessageContext>
  /** Works on the messages of one turn. Resolves when the turn has ended. */
  runTurn(turn: Turn): Promise<TurnEnd>
  /** Called after a change of the confirmation policy. The agent applies the new policy to work under way. */
  policyChanged(): void
  /** Changes the model, mode and options of the agent's ACP session. Absent for an agent without such a session. */
  readonly session?: AgentSession
  /**
   * Answers a client's question outside of the conversation. Records no event.
   * @throws AppError `bad_request` when the agent cannot answer questions; `agent_failed`, `agent_timeout`,
   * `unavailable`; the signal's reason
   */
  askAside(question: string, signal: AbortSignal): Promise<AsideAnswer>
  /**
   * Returns a title for a conversation that begins with this text; undefined if no model can be asked. Rejects with
   * the signal's reason when the signal aborts.
   */
  makeTitle?(text: string, signal: AbortSignal): Promise<TitleAnswer> | undefined
  /**
   * Judges from the history whether an objective is reached. Absent for an agent that calls no model itself.
   * @throws Error when the model fails
   */
  judgeGoal?(objective: string, signal: AbortSignal): Promise<GoalJudgement>
  /**
   * Replaces older events by a summary in the agent's view of the history. Called between turns. A turn that begins
   * meanwhile waits for the summary.
   * @throws AppError `bad_request` without a condenser, `conflict` when there are too few events, `agent_failed`.
   */
  condense?(work: CondensingWork): Promise<void>
  /** Ends every process that the agent started, by force after a grace time. Idempotent. */
  close(): Promise<void>
}

/**
 * Changes the model, mode and options of an external agent's session. Each method may also throw AppError
 * `agent_timeout` or `agent_failed`, or the signal's reason.
 */
export interface AgentSession {
  /** Switches the model for later turns. @throws AppError `bad_request` when the agent refuses. */
  switchModel(model: string, signal: AbortSignal): Promise<void>
  /**
   * Switches the mode of the conversation's current and later sessions (contract/settings.md, section 3.3).
   * @throws AppError `bad_request` when the agent refuses, `invalid_input` when the confirmation policy forbids the
   * mode.
   */
  switchMode(mode: string, signal: AbortSignal): Promise<void>
  /**
   * Sets an option other than mode and model, for the current session and later sessions of the conversation.
   * @throws AppError `bad_request` when the agent refuses, `invalid_input` when the confirmation policy forbids the
   * value.
   */
  switchOption(id: string, value: string, signal: AbortSignal): Promise<void>
}

/** Content and skills that go into the history with a user message. */
export interface MessageContext {
  readonly content: readonly TextContent[]
  /** Skills that the message triggers. The conversation then leaves out a skill whose text the model already has. */
  readonly skills: readonly CalledSkill[]
}

export interface CalledSkill {
  readonly name: string
  /** The skill's text for the model. */
  readonly text: string
}

/** The input of one turn, and the methods that the agent reports through. */
export interface Turn {
  /** True when the agent began this turn by itself (`AgentHost.beginRun`). Such a turn has no messages. */
  readonly isOwn: boolean
  /** User messages that no turn has served, oldest first; may be empty. */
  readonly messages: readonly MessageEvent[]
  readonly signal: AbortSignal
  /** Aborted when a stepping agent must end the turn before its next step. */
  readonly pausing: AbortSignal
  /** Ids of the actions that waited for the user and are now approved. */
  readonly approved: readonly string[]
  /** Reports that the agent has got the user message with this id and all earlier user messages. */
  served(messageId: string): void
  /** Stores the private state of the LLM response `id`. Later requests to the LLM must contain this state. */
  keepResponse(id: string, state: JsonObject): void
  /**
   * Stores an action that waits for the user, so that the action can run after a restart. `sealed` is the unmasked JSON
   * of the action, encrypted.
   */
  keepCall(actionId: string, sealed: string): void
  /**
   * Records one event; does nothing after the end of the turn. Without `midway`, the event ends the text of the deltas
   * so far. A secret that continues in a later delta is then not masked.
   */
  record(draft: EventDraft, isMidway?: 'midway'): Recorded
  /** Sends a piece of text to live readers, without storing it. Secrets are masked, also across pieces. */
  delta(piece: { readonly content?: string; readonly reasoning_content?: string }): void
  /**
   * Asks the user for a confirmation, and resolves to the answer. The answer is `denied` also when the deadline passes,
   * and `cancelled` when the turn ends or `withdrawn` is aborted.
   */
  ask(question: QuestionDraft, withdrawn?: AbortSignal): Promise<ConfirmationAnswer>
  /** Adds the report's figures to the totals of its usage id. Clients get the new `stats` by the end of the turn. */
  usage(report: UsageReport): void
  /**
   * Registers `listener`, which is called right before a user message is recorded during this turn. The `listener`
   * records the text that the agent has written so far, so that this text stands before the message.
   */
  onMessage(listener: () => void): void
  /** Returns undefined if the agent may go on now; otherwise resolves when fewer recorded bytes wait for the disk. */
  ready(): Promise<void> | undefined
}

export interface Recorded {
  readonly id: string
  /** Resolves when the event is durable and published; at once if it was ignored. Rejects when the log refuses it. */
  durable(): Promise<void>
}

export interface QuestionDraft {
  readonly toolCallId: string
  readonly title: string
  /** Id of the ActionEvent that describes the action in full. The event was recorded before the question. */
  readonly actionId?: string
  /** The command line; absent when it is unknown or the action runs no command. */
  readonly command?: string
  readonly diff?: QuestionDiff
  readonly locations?: readonly QuestionLocation[]
  readonly options: readonly QuestionOption[]
}

export interface QuestionDiff {
  readonly path: string
  /** The replaced text; empty for an insertion; null if unknown, or if there is no old text, as for a new file. */
  readonly old_text: string | null
  /** The text after the change; null if unknown, or if there is no new text, as for a deleted or moved file. */
  readonly new_text: string | null
  /** The number of further changes in the same tool call, which are not shown. */
  readonly more: number
}

export interface QuestionLocation {
  readonly path: string
  readonly line: number | null
}

/** An option as in ACP's session/request_permission. */
export interface QuestionOption {
  readonly id: string
  readonly name: string
  readonly kind: string
}

/** A denial, by the user or without asking the user. `by` is present if the confirmation's deadline passed. */
export interface Denied {
  readonly outcome: 'denied'
  readonly reason: string
  readonly by?: 'deadline'
}

export type ConfirmationAnswer =
  | { readonly outcome: 'accepted' }
  | Denied
  | { readonly outcome: 'cancelled' }

export interface GoalJudgement {
  readonly verdict: GoalVerdict
  readonly usage: UsageReport
}

/** The signal that stops `Agent.condense`, and the methods through which `condense` reports. */
export interface CondensingWork extends Pick<Turn, 'signal' | 'usage'> {
  record(draft: EventDraft): void
}

export interface AsideAnswer {
  readonly text: string
  readonly usage: UsageReport
}

/** The model's title, or the code and detail of the failure as in ConversationErrorEvent. */
export type TitleAnswer = AsideAnswer | { readonly failure: { readonly code: string; readonly detail: string } }

/** Asks the model of a stored LLM profile for a title. Resolves to undefined when no model can be asked. */
export type TitleByProfile = (
  request: { readonly profile: string; readonly text: string; readonly signal: AbortSignal },
) => Promise<TitleAnswer | undefined>

/** The usage of a model call, or of one prompt to an external agent. An absent figure is unknown. */
export interface UsageReport {
  readonly usageId: string
  readonly model: string
  /** The cost in US dollars. */
  readonly cost?: number
  /** `derived` if the server computed the cost from two sums that an external agent reported. Default: `reported`. */
  readonly costSource?: 'reported' | 'derived'
  readonly promptTokens?: number
  readonly completionTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  readonly contextWindow?: number
  readonly perTurnTokens?: number
}

/** How a turn ended. If `served` is false, the next turn gets those messages that are not recorded as served. */
export type TurnEnd =
  | { readonly outcome: 'finished'; readonly served: true }
  | { readonly outcome: 'stopped'; readonly served: boolean }
  /** Actions wait for the user's approval, also after a restart. The agent must then go on from the history alone. */
  | { readonly outcome: 'waiting'; readonly served: true }
  /** The agent repeats itself without progress. */
  | { readonly outcome: 'stuck'; readonly served: true }
  | { readonly outcome: 'failed'; readonly served: boolean; readonly code: string; readonly detail: string }
