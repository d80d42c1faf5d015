/**
 * A conversation as the page holds it: the window of events, their items, the state, and the draft of the agent's text.
 * Frames are handled in batches, so that many frames at once do not block the page.
 */
import { problemOf, type Answer, type Api } from '../api.ts'
import { listAt, memberAt, textAt } from '../values.ts'
import { EventConnection, type Connection } from './connection.ts'
import { emptyState, foldState, isWorking, statusOfState, type ConversationState } from './conversation-state.ts'
import { EventWindow } from './event-window.ts'
import { FrameLog } from './frame-log.ts'
import { readEvent, Timeline, type Item, type StoredEvent } from './timeline.ts'

/** The text that the agent is writing. */
export interface Draft {
  readonly content: string
  readonly thought: string
}

export interface HistoryChange {
  /** The items that are new or have changed; undefined when all items were made anew. */
  readonly touched: readonly Item[] | undefined
  /** The events that the socket has brought in this batch of frames, in the order of their arrival. */
  readonly live: readonly StoredEvent[]
}

const emptyDraft: Draft = { content: '', thought: '' }
/** The time in milliseconds after which a batch of frames ends. The remaining frames wait for the next batch. */
const batchMs = 12
/** Events that arrive within this time after a reconnection are counted as missed during the interruption. */
const catchingUpMs = 2000
/** The pause between two attempts to open the window of events. */
const reopeningMs = 2000
/** The statuses of a server that cannot be reached. 0 means no response. */
const awayStatuses: readonly number[] = [0, 502, 503, 504]

class ServerAway extends Error {}

export class LiveHistory {
  readonly timeline = new Timeline()
  readonly frames = new FrameLog()
  readonly window: EventWindow
  state: ConversationState = emptyState
  draft: Draft = emptyDraft
  connection: Connection = { name: 'connecting' }
  /** The newest problem, which the page shows until the person dismisses it; undefined when there is none. */
  problem: string | undefined
  /** A message to show that does not report a problem; undefined when there is none. */
  note: string | undefined
  /** The time of the last reconnection, in milliseconds since the epoch; 0 before the first reconnection. */
  reconnectedAt = 0
  /** The number of events that came within `catchingUpMs` after the last reconnection. */
  caughtUp = 0
  readonly #connection: EventConnection
  readonly #onChange: (change: HistoryChange) => void
  #queue: string[] = []
  #scheduled: number | undefined
  #isCatchingUp = false
  /** True while `open` opens the window of events, before it opens the socket. */
  #isOpening = false
  #endPause: (() => void) | undefined
  #isClosed = false

  constructor(api: Api, id: string, onChange: (change: HistoryChange) => void) {
    this.#onChange = onChange
    const search = (query: string, signal?: AbortSignal): Promise<Answer> =>
      api.get(`/api/conversations/${encodeURIComponent(id)}/events/search?${query}`, signal)
    this.window = new EventWindow(async (query) => {
      const answer = await search(query)
      if (awayStatuses.includes(answer.status)) throw new ServerAway(problemOf(answer))
      if (answer.status !== 200) throw new Error(problemOf(answer))
      return answer.json
    })
    this.#connection = new EventConnection(api, id, {
      after: () => this.window.newest,
      onFrame: (text) => this.#received(text),
      onChange: (connection) => {
        // Remember that the connection was `waiting`: its next `open` is then a reconnection.
        if (this.connection.name === 'waiting') this.#isCatchingUp = true
        if (connection.name === 'open' && this.#isCatchingUp) {
          this.#isCatchingUp = false
          this.reconnectedAt = Date.now()
          this.caughtUp = 0
        }
        this.connection = connection
        this.#tell({ touched: [], live: [] })
      },
      isCurrent: async (signal) => {
        const { status, json } = await search('limit=1&sort_order=TIMESTAMP_DESC', signal)
        // A response that was cut off has no readable JSON, and so no `items`.
        if (status !== 200 || !Array.isArray(memberAt(json, 'items'))) return false
        return [undefined, this.window.newest].includes(readEvent(listAt(json, 'items')[0])?.id)
      },
      onLost: () => void this.open(),
    })
  }

  /** True while the connection is interrupted, also during a new attempt. */
  get isCut(): boolean {
    const { name } = this.connection
    return name === 'waiting' || name === 'connecting' && this.#isCatchingUp
  }

  /** Opens the window of events. While the server is away, tries again after each pause. Then opens the socket. */
  async open(eventId?: string): Promise<void> {
    this.#isOpening = true
    while (!this.#isClosed && !await this.#openWindow(eventId)) await this.#pause()
    this.#isOpening = false
    if (this.#isClosed) return
    this.reset()
    this.#connection.start()
  }

  /**
   * Opens the window of events at an event, or at the end of the history. Returns false when the server is away
   * (`awayStatuses`). Sets `problem` for another failure, or when there is no such event.
   */
  async #openWindow(eventId: string | undefined): Promise<boolean> {
    try {
      await this.window.openAtEnd()
      if (eventId !== undefined && !await this.window.openAt(eventId)) this.problem = 'This event is not here any more'
    } catch (thrown) {
      if (thrown instanceof ServerAway) return false
      this.problem = thrown instanceof Error ? thrown.message : String(thrown)
    }
    return true
  }

  /** Waits for `reopeningMs`, or until `retry` or `close` is called. */
  async #pause(): Promise<void> {
    this.connection = { name: 'waiting', retryAt: Date.now() + reopeningMs }
    this.#tell({ touched: [], live: [] })
    await new Promise<void>((resolve) => {
      this.#endPause = resolve
      setTimeout(resolve, reopeningMs)
    })
    this.#endPause = undefined
  }

  /** Changes the window, then shows the window's events. When `change` fails, sets `problem` and returns undefined. */
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

  /** Opens a new socket. Before the window of events is open, only ends a pause between two attempts to open it. */
  retry(): void {
    if (this.#endPause !== undefined) this.#endPause()
    else if (!this.#isOpening) this.#connection.retry()
  }

  close(): void {
    this.#isClosed = true
    this.#endPause?.()
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

  /** Plans the next batch of frames. Uses a timer, because `requestAnimationFrame` stops while the page is hidden. */
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

  /** Handles a frame. Returns its event; undefined for a delta, a ServerErrorEvent, `full_state` or unreadable text. */
  #take(text: string): StoredEvent | undefined {
    this.frames.add(text)
    const event = readEvent(parsed(text))
    if (event === undefined) return undefined
    const { kind, body } = event
    if (kind === 'StreamingDeltaEvent') {
      return void this.#grow(textAt(body, 'content'), textAt(body, 'reasoning_content'))
    }
    if (kind === 'ServerErrorEvent') {
      const code = textAt(body, 'code')
      if (!this.#isSaid(code)) this.problem = `${code}: ${textAt(body, 'detail')}`
      return undefined
    }
    if (kind === 'ConversationStateUpdateEvent') {
      this.state = foldState(this.state, body)
      const isFull = memberAt(body, 'key') === 'full_state'
      // After `full_state`, the server sends the draft so far again. An agent that is not working has no draft.
      if (isFull || !isWorking(this.state)) this.draft = emptyDraft
      return isFull ? undefined : event
    }
    // An event of the agent has recorded the text of the draft, so a new draft begins.
    if (event.source === 'agent') this.draft = emptyDraft
    return event
  }

  /** Tells whether the page already shows the error `code`: always in status `stuck`, in `error` if an item has it. */
  #isSaid(code: string): boolean {
    const status = statusOfState(this.state)
    const isShown = (item: Item): boolean => item.type === 'error' && item.code === code
    return status === 'stuck' || status === 'error' && this.timeline.items.some(isShown)
  }

  #grow(content: string, thought: string): void {
    this.draft = { content: this.draft.content + content, thought: this.draft.thought + thought }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // Not JSON: the frame is skipped.
  }
}
