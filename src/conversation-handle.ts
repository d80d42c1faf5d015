/**
 * The handle with which a host drives a conversation by method calls.
 *
 * A handle holds only the id. A method that needs an open conversation opens it. Each method throws AppError
 * `not_found` after the conversation was deleted. `send`, `respond`, `change`, and `events` for its `limit`, throw
 * `invalid_input` for a value that the REST route would refuse.
 */
import { AppError } from './base/errors.ts'
import { parseOwnJsonBytes } from './base/json-turns.ts'
import type { Conversation } from './conversation/conversation.ts'
import type { ConversationService } from './conversation/list/service.ts'
import type { ConversationState } from './conversation/log/state.ts'
import { storedEvent } from './conversation/log/stored-event.ts'
import type { PendingConfirmation } from './conversation/run/confirmations.ts'
import { watch, type WatchedEvent } from './conversation/watch.ts'
import { checked } from './schema/check.ts'
import {
  ConfirmationResponseRequest, UpdateConversationRequest, type ExecutionStatus,
} from './schema/generated/conversations.ts'
import type { Event, EventKind } from './schema/generated/events.ts'
import { Message } from './schema/generated/values.ts'

/**
 * The event with which `watch` begins: the first stored event (`beginning`), the next new event (`now`), or the stored
 * event that follows the event with the id `after`.
 */
export type WatchStart = 'beginning' | 'now' | { readonly after: string }

export interface ConversationHandle {
  readonly id: string
  /** Returns the conversation's state. */
  summary(): Promise<ConversationSummary>
  /** Sends a user message. Unless `run` is false, also starts a run that serves the message. */
  send(text: string, options?: { readonly run?: boolean }): Promise<void>
  run(): Promise<void>
  /**
   * Stops the run; waits at most 5 s for the current step of the built-in agent. Does nothing while a confirmation is
   * pending.
   */
  pause(): Promise<void>
  /** Stops the run at once. */
  interrupt(): Promise<void>
  questions(): Promise<readonly PendingConfirmation[]>
  /** Answers the pending confirmation with this id; without an id, all pending confirmations. */
  respond(answer: { readonly accept: boolean; readonly reason?: string; readonly id?: string }): Promise<void>
  /** Changes the title, the tags or both. New tags replace all existing tags. */
  change(change: { readonly title?: string; readonly tags?: Readonly<Record<string, string>> }): Promise<void>
  /**
   * Stops the run and removes the conversation with its history and its git worktree. Resolves to the path of the
   * worktree if the worktree is kept (`Worktrees.release`). Resolves to undefined in all other cases.
   */
  delete(): Promise<string | undefined>
  /** Returns the agent's newest answer; empty if the agent has not answered yet. */
  finalResponse(): Promise<string>
  /** Returns a stored event; undefined if no event has this id, or if the event is damaged. */
  event(id: string): Promise<Event | undefined>
  events(query?: EventsQuery): Promise<EventsPage>
  /**
   * Yields the full state, then the events from `from` on, until the signal aborts or the conversation is closed.
   * Deltas and later states, which the log does not store, come between the events.
   */
  watch(options: { readonly from: WatchStart; readonly signal: AbortSignal }): AsyncGenerator<WatchedEvent>
}

export interface ConversationSummary {
  readonly id: string
  readonly title: string | null
  readonly status: ExecutionStatus
  readonly tags: Readonly<Record<string, string>>
  readonly workingDir: string
  /** The time of creation, ISO 8601 in UTC. */
  readonly createdAt: string
  /** The time of the last change, ISO 8601 in UTC. */
  readonly updatedAt: string
}

export interface EventsQuery {
  /** Selects events of this kind, such as `ActionEvent`. Default: all kinds. */
  readonly kind?: EventKind
  /** Selects events with this source. Default: all sources. */
  readonly source?: Event['source']
  /** Selects messages whose text contains this text, in any case. Default: all events. */
  readonly text?: string
  /** True for the newest event first. Default: the oldest event first. */
  readonly newestFirst?: boolean
  /** The largest number of events in the page. Default 100. */
  readonly limit?: number
  /** The id of the first event of the page, from `nextPageId` of the previous page. Default: the first page. */
  readonly pageId?: string | null | undefined
}

export interface EventsPage {
  readonly items: readonly Event[]
  /** The `pageId` of the next page; null on the last page. */
  readonly nextPageId: string | null
}

export function handleOf(service: ConversationService, id: string): ConversationHandle {
  return {
    id,
    summary: async () => summaryOf(await service.state(id)),
    async send(text, { run = true } = {}) {
      const message = checked(Message, { role: 'user', content: [{ type: 'text', text }] })
      await (await service.open(id)).send(message, run)
    },
    run: async () => (await service.open(id)).run(),
    pause: async () => (await service.open(id)).pause(),
    interrupt: async () => (await service.open(id)).interrupt(),
    questions: async () => (await service.open(id)).confirmations(),
    respond: async (answer) => (await service.open(id)).respond(checked(ConfirmationResponseRequest, answer)),
    async change(wanted) {
      const { title, tags } = checked(UpdateConversationRequest, wanted)
      await (await service.open(id)).patch({ title, tags })
    },
    delete: () => service.remove(id),
    finalResponse: async () => service.read(id, (events) => events.finalResponse()),
    async event(eventId) {
      const json = await service.read(id, (events) => events.find(eventId))
      return json === undefined ? undefined : eventIn(json)
    },
    async events({ kind, source, text: body, newestFirst = false, limit, pageId } = {}) {
      const query = { kind, source, body, newestFirst, limit: pageSize(limit), pageId: pageId ?? undefined }
      const { items, nextPageId } = await service.read(id, (events) => events.page(query))
      return { items: await Promise.all(items.map(eventIn)), nextPageId }
    },
    async *watch({ from, signal }) {
      const conversation = await service.open(id)
      yield* watch(conversation, await numberOf(conversation, from), signal)
    },
  }
}

export function summaryOf(state: Readonly<ConversationState>): ConversationSummary {
  const { id, title, tags } = state
  return {
    id,
    title,
    status: state.execution_status,
    tags,
    workingDir: state.working_dir,
    createdAt: state.created_at,
    updatedAt: state.updated_at,
  }
}

async function eventIn(json: Buffer): Promise<Event> {
  const event = storedEvent(await parseOwnJsonBytes(json))
  if (event === undefined) throw new AppError('storage_failed', 'A stored event does not fit its schema')
  return event
}

async function numberOf(conversation: Conversation, from: WatchStart): Promise<number | 'now'> {
  if (from === 'now') return 'now'
  if (from === 'beginning') return 0
  const seq = await conversation.seqAfter(from.after)
  if (seq === undefined) throw new AppError('not_found', `Event not found: ${from.after}`)
  return seq
}

/** Returns the size of a page. @throws AppError `invalid_input` unless `limit` is a whole number of 1 or more */
export function pageSize(limit = 100): number {
  if (Number.isInteger(limit) && limit > 0) return limit
  throw new AppError('invalid_input', `Could not use the limit ${String(limit)}: expected a whole number from 1`)
}
