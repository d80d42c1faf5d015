/**
 * The one writer of a conversation: everything that becomes history passes through here.
 *
 * `record` gives an event its id and time, makes its bytes once and appends them; when the group commit that holds them
 * is durable, the state is folded and readers get the same bytes, in that order (decisions 4-6). So nobody, `state`
 * included, ever sees an event that a crash could take back. Deltas wait for the events before them, not for a sync
 * of their own. A log that has failed refuses new lines; what was durable stays readable.
 */
import { type Event, type EventDraft, type ConversationStateUpdateEvent, toEvent } from '../schema/generated/events.ts'
import type { ExecutionStatus } from '../schema/generated/conversations.ts'
import type { JsonValue } from '../base/json.ts'
import type { Stamp } from '../base/stamp.ts'
import { deferred, type Deferred } from '../base/wait.ts'
import type { CommittedLine, ConversationLog } from '../storage/log.ts'
import type { Recorded } from './agent.ts'
import type { Feed } from './feed.ts'
import { givenAfterEvent, givenAfterMove, type GivenSkills } from './given-skills.ts'
import type { KeyedRequest, RequestRecord } from './requests.ts'
import { nextStatus, type Trigger } from './status-table.ts'
import { foldEvent, type ConversationState } from './state.ts'
import { foldRecord, type PrivateRecord } from './records.ts'

/** What waits for its line to become durable, in the order of the log. */
type Pending =
  | { readonly type: 'event'; readonly event: Event; readonly micros: number }
  | { readonly type: 'record'; readonly record: PrivateRecord }
  | { readonly type: 'push'; readonly json: Buffer }

export interface JournalOptions {
  readonly log: ConversationLog
  readonly feed: Feed
  readonly state: ConversationState
  readonly nextStamp: () => Stamp
  /** More bytes than this waiting for the disk, frames behind them included, make `ready()` wait. */
  readonly backlogLimitBytes: number
  /** Called after every commit, once the state is folded. */
  readonly onChange: () => void
  /** Called when the log has failed: what was recorded and not yet durable will never be. */
  readonly onFailure: () => void
}

export class Journal {
  readonly #options: JournalOptions
  readonly #pending: Pending[] = []
  #backlogBytes = 0
  #room: Deferred<void> | undefined
  #status: ExecutionStatus
  #isWatching = false
  /** Why nothing is taken until `reopen`, once the failure of the log is known here. */
  #failure: unknown

  constructor(options: JournalOptions) {
    this.#options = options
    this.#status = options.state.execution_status
  }

  /** The newest recorded status, durable or not: what the next step of the state machine starts from. */
  get status(): ExecutionStatus {
    return this.#status
  }

  /** The state as of the newest durable line. Do not change it. */
  get state(): Readonly<ConversationState> {
    return this.#options.state
  }

  /** Skills that the model has the text of, by what was recorded, durable or not. */
  givenSkills(): GivenSkills {
    return this.#pending.reduce((given, line) => {
      if (line.type === 'event') return givenAfterEvent(given, line.event)
      return line.type === 'record' && line.record[0] === 'head' ? givenAfterMove(given, line.record[1]) : given
    }, this.state.given_skills)
  }

  /**
   * Appends an event. Its place is the order of calls. The request that it is the effect of is remembered with it.
   * @throws AppError `storage_failed` or `storage_full` when the log takes no more.
   */
  record(draft: EventDraft, request?: Omit<RequestRecord, 'event'>): Recorded {
    const { id, timestamp, micros } = this.#options.nextStamp()
    if (request !== undefined) this.keep(['request', { ...request, event: id }])
    const event = toEvent({ ...draft, id, timestamp })
    this.#append(JSON.stringify(event), { type: 'event', event, micros })
    return { id, durable: () => this.durable() }
  }

  /** Records the status that `trigger` leads to, if it is another one. */
  move(trigger: Trigger, request?: KeyedRequest): void {
    const next = nextStatus(this.#status, trigger)
    if (next === this.#status) return this.answered(request)
    this.update('execution_status', next, request)
    this.#status = next
  }

  /** Appends a state update: the same as `record`, for the most frequent kind. */
  update(key: string, value: JsonValue, request?: KeyedRequest): Recorded {
    const draft = { kind: 'ConversationStateUpdateEvent', source: 'environment', key, value } as const
    return this.record(draft satisfies Omit<ConversationStateUpdateEvent, 'id' | 'timestamp'>, request)
  }

  /** Remembers a request, if it carries a key, that has no event for its effect. */
  answered(request: KeyedRequest | undefined): void {
    if (request !== undefined) this.keep(['request', { ...request, event: null }])
  }

  /** Appends a private record. */
  keep(record: PrivateRecord): void {
    this.#append(JSON.stringify(record), { type: 'record', record })
  }

  /** Sends a frame to live readers after everything that was recorded before it. Never stored. */
  push(json: Buffer): void {
    if (this.#failure !== undefined) return
    if (this.#pending.length === 0) return this.#options.feed.push(json)
    this.#pending.push({ type: 'push', json })
    this.#backlogBytes += json.length
  }

  /** Resolves when everything recorded so far is durable and published. */
  durable(): Promise<void> {
    return this.#options.log.durable()
  }

  /** Resolves when the disk has caught up with a flood; undefined when it has. */
  ready(): Promise<void> | undefined {
    if (this.#backlogBytes <= this.#options.backlogLimitBytes) return undefined
    this.#room ??= deferred<void>()
    return this.#room.promise
  }

  /** To be called by the log, in order, with every group that became durable. */
  committed(lines: readonly CommittedLine[]): void {
    for (const line of lines) {
      const pending = this.#pending.shift()
      if (pending === undefined) throw new TypeError('The log committed a line that the journal did not append')
      this.#fold(pending, line)
      this.#backlogBytes -= line.json.length
      this.#flushPushes()
    }
    if (this.#backlogBytes <= this.#options.backlogLimitBytes) this.#makeRoom()
    this.#options.onChange()
  }

  /**
   * Makes writing possible again after a failure; what never became durable is forgotten. One call at a time.
   * @throws AppError `storage_failed` or `storage_full`; then nothing has changed.
   */
  async reopen(): Promise<void> {
    await this.#options.log.reopen()
    this.#status = this.state.execution_status
    this.#failure = undefined
  }

  #append(json: string, pending: Pending): void {
    // Also while the log is being reopened: what is appended then would be cut off.
    if (this.#failure !== undefined) throw this.#failure
    const bytes = Buffer.from(json)
    this.#options.log.append(bytes)
    this.#pending.push(pending)
    this.#backlogBytes += bytes.length
    this.#watch()
  }

  /** Hears of a failure of the log, also when nobody waits for what was recorded. */
  #watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#options.log.durable().then(
      () => {
        this.#isWatching = false
        if (this.#pending.length > 0) this.#watch()
      },
      (cause: unknown) => {
        this.#isWatching = false
        this.#failed(cause)
      },
    )
  }

  #failed(cause: unknown): void {
    this.#failure = cause
    this.#pending.length = 0
    this.#backlogBytes = 0
    this.#makeRoom()
    this.#options.onFailure()
  }

  #fold(pending: Pending, line: CommittedLine): void {
    const { state, feed } = this.#options
    if (pending.type === 'record') foldRecord(state, pending.record)
    if (pending.type !== 'event') return
    foldEvent(state, pending.event, pending.micros)
    if (line.event !== undefined) feed.publish({ sequence: line.event, json: line.json })
  }

  #flushPushes(): void {
    for (let next = this.#pending[0]; next?.type === 'push'; next = this.#pending[0]) {
      this.#options.feed.push(next.json)
      this.#backlogBytes -= next.json.length
      this.#pending.shift()
    }
  }

  #makeRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }
}
