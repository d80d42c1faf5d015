/**
 * The only writer of an open conversation's history.
 *
 * `record` gives an event its id and time and appends its bytes to the log. When the bytes are durable (on the disk),
 * the state is changed, and then the readers get the same bytes (decisions 4-6). A frame waits until the lines before
 * it are durable.
 */
import {
  type Event, type EventDraft, type ConversationStateUpdateEvent, toEvent,
} from '../../schema/generated/events.ts'
import type { ExecutionStatus } from '../../schema/generated/conversations.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Stamp } from '../../base/stamp.ts'
import { deferred, type Deferred } from '../../base/wait.ts'
import type { CommittedLine, ConversationLog } from '../../storage/log.ts'
import type { Recorded } from '../agent/agent.ts'
import type { Feed } from './feed.ts'
import type { DeltaFrame } from './frames.ts'
import { givenAfterEvent, givenAfterMove, type GivenSkills } from './given-skills.ts'
import type { KeyedRequest, RequestRecord } from './requests.ts'
import { nextStatus, type Trigger } from './status-table.ts'
import { foldEvent, type ConversationState } from './state.ts'
import { foldRecord, type PrivateRecord } from './records.ts'
import type { Work } from './work.ts'

/** A line that is not durable yet, or work for the feed that waits for earlier lines. */
type Pending =
  | { readonly type: 'event'; readonly event: Event; readonly micros: number }
  | { readonly type: 'record'; readonly record: PrivateRecord }
  | { readonly type: 'push'; readonly bytes: number; readonly send: (feed: Feed) => void }

export interface JournalOptions {
  readonly log: Pick<ConversationLog, 'listen' | 'append' | 'durable' | 'reopen'>
  readonly feed: Feed
  readonly state: ConversationState
  readonly nextStamp: () => Stamp
  /** `ready()` waits while more bytes than this are queued: lines that are not durable, and frames that follow them. */
  readonly backlogLimitBytes: number
  readonly work?: Work | undefined
  /** Called after each commit, when `state` includes the committed lines. */
  readonly onChange: () => void
}

/** Is told when lines could not be recorded. `TurnRunner` implements this interface. */
export interface JournalFollower {
  /** Called when the log has failed. The lines that were not durable yet are lost. */
  logFailed(): void
  /** Called by `Journal.attempt` with the error that its `work` has thrown. */
  recordRefused(cause: unknown): void
}

export class Journal {
  readonly #options: JournalOptions
  readonly #pending: Pending[] = []
  #backlogBytes = 0
  #room: Deferred<void> | undefined
  #status: ExecutionStatus
  #isWatching = false
  #follower: JournalFollower | undefined
  /** The log's failure, thrown for every line until `reopen`; undefined while the log works. */
  #failure: unknown

  constructor(options: JournalOptions) {
    this.#options = options
    this.#status = options.state.execution_status
    options.log.listen((lines) => this.#committed(lines))
  }

  /** Sets the follower, which is told when lines could not be recorded. @throws TypeError when there is one already */
  follow(follower: JournalFollower): void {
    if (this.#follower !== undefined) throw new TypeError('The journal has a follower already')
    this.#follower = follower
  }

  /** The newest recorded status, durable or not. `move` computes the next status from it. */
  get status(): ExecutionStatus {
    return this.#status
  }

  /** The state after the newest durable line. Callers must not change it. */
  get state(): Readonly<ConversationState> {
    return this.#options.state
  }

  /** Returns the newest recorded value of a field of the state, durable or not. */
  newest(key: 'confirmation_policy' | 'security_analyzer' | 'tags'): unknown {
    const events = this.#pending.flatMap((line) => (line.type === 'event' ? [line.event] : []))
    const update = events.findLast((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === key)
    return update?.kind === 'ConversationStateUpdateEvent' ? update.value : this.state[key]
  }

  /** Returns the skills whose text is in the model's context after all recorded lines, durable or not. */
  givenSkills(): GivenSkills {
    return this.#pending.reduce((given, line) => {
      if (line.type === 'event') return givenAfterEvent(given, line.event)
      return line.type === 'record' && line.record[0] === 'head' ? givenAfterMove(given, line.record[1]) : given
    }, this.state.given_skills)
  }

  /**
   * Appends an event. If a request with an idempotency key caused the event, first appends the request's record.
   * @throws AppError `storage_failed` or `storage_full` when the log has failed; the errors of
   * `ConversationLog.append`
   */
  record(draft: EventDraft, request?: Omit<RequestRecord, 'event'>): Recorded {
    const { id, timestamp, micros } = this.#options.nextStamp()
    if (request !== undefined) this.keep(['request', { ...request, event: id }])
    const event = toEvent({ ...draft, id, timestamp })
    this.#append(JSON.stringify(event), { type: 'event', event, micros })
    return { id, durable: () => this.durable() }
  }

  /** Records the status that `trigger` leads to. If the status does not change, records only the request, if any. */
  move(trigger: Trigger, request?: KeyedRequest): void {
    const next = nextStatus(this.#status, trigger)
    if (next === this.#status) return this.answered(request)
    this.update('execution_status', next, request)
    this.#status = next
  }

  update(key: string, value: JsonValue, request?: KeyedRequest): Recorded {
    const draft = { kind: 'ConversationStateUpdateEvent', source: 'environment', key, value } as const
    return this.record(draft satisfies Omit<ConversationStateUpdateEvent, 'id' | 'timestamp'>, request)
  }

  /** Records that a request with an idempotency key is done, without an event. Without a request, does nothing. */
  answered(request: KeyedRequest | undefined): void {
    if (request !== undefined) this.keep(['request', { ...request, event: null }])
  }

  keep(record: PrivateRecord): void {
    this.#append(JSON.stringify(record), { type: 'record', record })
  }

  /** Runs `work`, which records lines. Never throws: an error goes to `recordRefused` of the follower, if any. */
  attempt(work: () => void): void {
    try {
      work()
    } catch (cause) {
      this.#follower?.recordRefused(cause)
    }
  }

  /** Sends a frame to live readers, after all lines recorded before this call. The frame is lost if the log fails. */
  push(json: Buffer): void {
    if (this.#failure === undefined) this.#push(json.length, (feed) => feed.push(json))
  }

  /** Sends a piece of text as `push` does. A reader that joins later gets the piece if the feed still keeps it. */
  delta(frame: DeltaFrame): void {
    if (this.#failure === undefined) this.#push(frame.json.length, (feed) => feed.delta(frame))
  }

  /** Drops the feed's copy of the agent's unfinished text, after the feed has got all earlier lines and pieces. */
  endText(): void {
    this.#push(0, (feed) => feed.endText())
  }

  /** Resolves when all lines recorded before this call are durable and published. Rejects when the log fails. */
  durable(): Promise<void> {
    return this.#options.log.durable()
  }

  /**
   * Returns undefined if at most `backlogLimitBytes` wait for the disk. Otherwise returns a promise that resolves when
   * no more bytes than that wait, or when the log fails.
   */
  ready(): Promise<void> | undefined {
    if (this.#backlogBytes <= this.#options.backlogLimitBytes) return undefined
    this.#room ??= deferred<void>()
    return this.#room.promise
  }

  /**
   * Reopens a failed log. Lines that did not become durable are dropped. Must not be called again before the returned
   * promise has settled.
   * @throws AppError `storage_failed` or `storage_full`
   */
  async reopen(): Promise<void> {
    await this.#options.log.reopen()
    this.#status = this.state.execution_status
    this.#failure = undefined
  }

  #committed(lines: readonly CommittedLine[]): void {
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

  #push(bytes: number, send: (feed: Feed) => void): void {
    if (this.#pending.length === 0) return send(this.#options.feed)
    this.#pending.push({ type: 'push', bytes, send })
    this.#backlogBytes += bytes
  }

  #append(json: string, pending: Pending): void {
    // This check also refuses lines while `reopen` runs, because `reopen` cuts off lines that are not durable.
    if (this.#failure !== undefined) throw this.#failure
    const bytes = Buffer.from(json)
    this.#options.log.append(bytes)
    this.#pending.push(pending)
    this.#backlogBytes += bytes.length
    this.#watch()
  }

  /** Calls `#failed` when the log fails, even if no caller waits for `durable`. */
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
    this.#options.feed.endText() // A queued `endText` is lost, and so may be the event that completes the text.
    this.#follower?.logFailed()
  }

  #fold(pending: Pending, line: CommittedLine): void {
    const { state, feed } = this.#options
    if (pending.type === 'record') foldRecord(state, pending.record)
    if (pending.type !== 'event') return
    foldEvent(state, pending.event, pending.micros)
    this.#options.work?.committed(pending.event)
    if (line.event === undefined) return
    feed.publish({ sequence: line.event, json: line.json })
    feed.endText(pending.event)
  }

  #flushPushes(): void {
    for (let next = this.#pending[0]; next?.type === 'push'; next = this.#pending[0]) {
      this.#backlogBytes -= next.bytes
      this.#pending.shift()
      next.send(this.#options.feed)
    }
  }

  #makeRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }
}
