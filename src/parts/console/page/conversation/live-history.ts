/**
 * A conversation as the page holds it: the window of events, their items, the state, and the text that still grows.
 *
 * Frames are taken in batches, one for each picture of the screen, so a flood of frames costs no more pictures. The
 * page learns of each batch by `onChange`.
 */
import { problemOf, type Api } from '../api.ts'
import { memberAt, textAt } from '../values.ts'
import { EventConnection, type Connection } from './connection.ts'
import { emptyState, foldState, isWorking, type ConversationState } from './conversation-state.ts'
import { EventWindow } from './event-window.ts'
import { FrameLog } from './frame-log.ts'
import { readEvent, Timeline, type Item, type StoredEvent } from './timeline.ts'

/** The text that the agent is writing. */
export interface Draft {
  readonly content: string
  readonly thought: string
}

export interface HistoryChange {
  /** The items that are new or that changed; undefined when the items are others altogether. */
  readonly touched: readonly Item[] | undefined
  /** Live events of this batch, in order. */
  readonly live: readonly StoredEvent[]
}

const emptyDraft: Draft = { content: '', thought: '' }
/** The most milliseconds of work in one batch. */
const batchMs = 12
/** Events that come within this time of a reconnection are told as what came meanwhile. */
const catchingUpMs = 2000

export class LiveHistory {
  readonly timeline = new Timeline()
  readonly frames = new FrameLog()
  readonly window: EventWindow
  state: ConversationState = emptyState
  draft: Draft = emptyDraft
  connection: Connection = { name: 'connecting' }
  /** The problem that the last frame of this page had, or the last page of events. */
  problem: string | undefined
  /** When the socket was open again after it had ended, in milliseconds since the epoch; 0 before the first time. */
  reconnectedAt = 0
  /** The number of events that came right after that. */
  caughtUp = 0
  readonly #connection: EventConnection
  readonly #onChange: (change: HistoryChange) => void
  #queue: string[] = []
  #scheduled: number | undefined
  #isCatchingUp = false
  #isClosed = false

  constructor(api: Api, id: string, onChange: (change: HistoryChange) => void) {
    this.#onChange = onChange
    this.window = new EventWindow(async (query) => {
      const answer = await api.get(`/api/conversations/${encodeURIComponent(id)}/events/search?${query}`)
      if (answer.status !== 200) throw new Error(problemOf(answer))
      return answer.json
    })
    this.#connection = new EventConnection(api, id, {
      after: () => this.window.newest,
      onFrame: (text) => this.#received(text),
      onChange: (connection) => {
        // The first opening is not told; a later one says what came meanwhile.
        if (this.connection.name === 'waiting') this.#isCatchingUp = true
        if (connection.name === 'open' && this.#isCatchingUp) {
          this.#isCatchingUp = false
          this.reconnectedAt = Date.now()
          this.caughtUp = 0
        }
        this.connection = connection
        this.#tell({ touched: [], live: [] })
      },
      onLost: () => void this.open(),
    })
  }

  /** Opens the window at the end, or at an event, and then the socket. */
  async open(eventId?: string): Promise<void> {
    try {
      await this.window.openAtEnd()
      if (eventId !== undefined && !await this.window.openAt(eventId)) this.problem = 'This event is not here any more'
    } catch (thrown) {
      this.problem = thrown instanceof Error ? thrown.message : String(thrown)
    }
    if (this.#isClosed) return
    this.reset()
    this.#connection.start()
  }

  /** Changes the window by one of its own methods, and shows its events again. */
  async move<Result>(change: (window: EventWindow) => Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await change(this.window)
      if (!this.#isClosed) this.reset()
      return result
    } catch (thrown) {
      this.problem = thrown instanceof Error ? thrown.message : String(thrown)
      this.#tell({ touched: [], live: [] })
      return undefined
    }
  }

  reset(): void {
    this.timeline.reset(this.window.events)
    this.#tell({ touched: undefined, live: [] })
  }

  retry(): void {
    this.#connection.retry()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#scheduled)
    this.#connection.close()
  }

  #tell(change: HistoryChange): void {
    if (!this.#isClosed) this.#onChange(change)
  }

  #received(text: string): void {
    this.#queue.push(text)
    this.#schedule()
  }

  /** A hidden page draws no pictures, but goes on. */
  #schedule(): void {
    if (this.#scheduled !== undefined) return
    this.#scheduled = setTimeout(() => {
      this.#scheduled = undefined
      this.#batch()
    }, 16)
  }

  #batch(): void {
    const end = performance.now() + batchMs
    const touched = new Map<string, Item>()
    const live: StoredEvent[] = []
    let taken = 0
    for (; taken < this.#queue.length && (taken === 0 || performance.now() < end); taken++) {
      const event = this.#take(this.#queue[taken] ?? '')
      if (event === undefined) continue
      live.push(event)
      if (this.window.live(event) !== 'added') continue
      const item = this.timeline.append(event)
      touched.set(item.key, item)
    }
    this.#queue = this.#queue.slice(taken)
    if (Date.now() - this.reconnectedAt < catchingUpMs) this.caughtUp += live.length
    const isTrimmed = this.window.trim()
    if (isTrimmed) this.timeline.reset(this.window.events)
    this.#tell({ touched: isTrimmed ? undefined : [...touched.values()], live })
    if (this.#queue.length > 0) this.#schedule()
  }

  /** Takes a frame; returns the event when it is one of the history. */
  #take(text: string): StoredEvent | undefined {
    this.frames.add(text)
    const event = readEvent(parsed(text))
    if (event === undefined) return undefined
    const { kind, body } = event
    if (kind === 'StreamingDeltaEvent') {
      this.#grow(textAt(body, 'content'), textAt(body, 'reasoning_content'))
      return undefined
    }
    if (kind === 'ServerErrorEvent') {
      this.problem = `${textAt(body, 'code')}: ${textAt(body, 'detail')}`
      return undefined
    }
    if (kind === 'ConversationStateUpdateEvent') {
      this.state = foldState(this.state, body)
      if (!isWorking(this.state)) this.draft = emptyDraft
      return memberAt(body, 'key') === 'full_state' ? undefined : event
    }
    // The text that grew is in this event now.
    if (event.source === 'agent') this.draft = emptyDraft
    return event
  }

  #grow(content: string, thought: string): void {
    this.draft = { content: this.draft.content + content, thought: this.draft.thought + thought }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
