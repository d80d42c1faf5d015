/**
 * The handle with which a program that embeds the server drives a conversation by method calls.
 *
 * Methods throw AppError `not_found` for a deleted conversation, and `invalid_input` for a value that is not allowed.
 */
import { AppError } from './base/errors.ts'
import { parseOwnJsonBytes } from './base/json-turns.ts'
import type { Conversation } from './conversation/conversation.ts'
import type { ConversationService } from './conversation/list/service.ts'
import type { ConversationState } from './conversation/log/state.ts'
import { storedEvent } from './conversation/log/stored-event.ts'
import type { PendingConfirmation } from './conversation/run/confirmations.ts'
import { ended } from './conversation/ended.ts'
import { watch, type WatchedEvent } from './conversation/watch.ts'
import { checked } from './schema/check.ts'
import {
  ConfirmationResponseRequest, UpdateConversationRequest, type ExecutionStatus,
} from './schema/generated/conversations.ts'
import type { Event, EventKind } from './schema/generated/events.ts'
import { Message } from './schema/generated/values.ts'

/**
 * The first event that `watch` yields after the state: the first stored event, the next new event, or the event that
 * follows the event with the id `after`.
 */
export type WatchStart = 'beginning' | 'now' | { readonly after: string }

export interface ConversationHandle {
  readonly id: string
  summary(): Promise<ConversationSummary>
  /** Sends a user message. The current run works on it. If there is none, starts a run, unless `run` is false. */
  send(text: string, options?: { readonly run?: boolean }): Promise<void>
  run(): Promise<void>
  /**
   * Waits until no run is at work, and returns the status. A run that waits for a confirmation is not at work. Without
   * a run, returns at once. Rejects with the signal's reason when the signal aborts.
   * @throws AppError `not_found` when the conversation is deleted, `unavailable` when it is closed during a run or has
   * too many readers
   */
  ended(signal?: AbortSignal): Promise<ExecutionStatus>
  /**
   * Stops the run, but not a run that waits for a confirmation. Waits at most 5 s until the built-in agent has ended
   * its current step. After that, resolves even if the status is still `running`.
   */
  pause(): Promise<void>
  /** Stops the run at once. */
  interrupt(): Promise<void>
  questions(): Promise<readonly PendingConfirmation[]>
  /**
   * Answers the confirmation with this id. Without an id, answers the pending confirmation of the current turn, or else
   * all actions that wait for the user between two runs.
   */
  respond(answer: { readonly accept: boolean; readonly reason?: string; readonly id?: string }): Promise<void>
  /** Changes the title, the tags or both. New tags replace all existing tags. */
  change(change: { readonly title?: string; readonly tags?: Readonly<Record<string, string>> }): Promise<void>
  /**
   * Stops the run and removes the conversation with its history and its git worktree. Resolves to the path of the
   * worktree if it is kept, for example because it has changes; otherwise to undefined.
   */
  delete(): Promise<string | undefined>
  /** Returns the agent's newest answer; empty if the agent has not answered yet. */
  finalResponse(): Promise<string>
  /** Returns a stored event; undefined if unknown or damaged. @throws AppError `storage_failed` for an invalid event */
  event(id: string): Promise<Event | undefined>
  events(query?: EventsQuery): Promise<EventsPage>
  /**
   * Yields the state, then the events from `from` on. Between events, yields deltas (pieces of text) and new states.
   * Ends when the signal aborts, the conversation is closed or deleted, or its log cannot be read.
   */
  watch(options: { readonly from: WatchStart; readonly signal?: AbortSignal }): AsyncGenerator<WatchedEvent>
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
  /** Selects messages that contain this text, in any case of letters. Default: all events. */
  readonly text?: string
  /** True for the newest event first. Default: the oldest event first. */
  readonly newestFirst?: boolean
  /** The largest number of events in the page. Default 100. */
  readonly limit?: number
  /** `nextPageId` of the previous page. Default: the first page. */
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
    ended: async (signal) => ended(await service.open(id), signal),
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
    async *watch({ from, signal = new AbortController().signal } = { from: 'beginning' }) {
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
  if (typeof from !== 'object') {
    const expected = "expected 'beginning', 'now' or { after }"
    throw new AppError('invalid_input', `Could not watch from ${String(from)}: ${expected}`)
  }
  const seq = await conversation.seqAfter(from.after)
  if (seq === undefined) throw new AppError('not_found', `Event not found: ${from.after}`)
  return seq
}

/** Returns the size of a page. @throws AppError `invalid_input` if `limit` is no positive integer */
export function pageSize(limit = 100): number {
  if (Number.isInteger(limit) && limit > 0) return limit
  throw new AppError('invalid_input', `Could not use the limit ${String(limit)}: expected a whole number from 1`)
}
