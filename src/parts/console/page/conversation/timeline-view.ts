/**
 * Draws the items of the loaded events as rows of a list, and after them the draft of the agent's text.
 *
 * The list follows its end while the person has scrolled to the end. Otherwise the visible rows stay in place when
 * other rows are added or removed.
 */
import { element, fill } from '../dom.ts'
import { button } from './controls.ts'
import { selectFound } from './found-text.ts'
import { itemView, thoughtView, type MakeMenu } from './item-view.ts'
import type { Draft, HistoryChange, LiveHistory } from './live-history.ts'
import { GrowingMarkdown } from './markdown-view.ts'
import { signatureOf, type Item } from './timeline.ts'

interface Row {
  readonly element: HTMLElement
  readonly signature: string
}

/** More events are loaded when the visible area is less than this many pixels away from an end of the list. */
const readAhead = 1500
/** The person counts as being at the end when less than this many pixels of the list are below the visible area. */
const endDistance = 60
const newestRows = 4

export class TimelineView {
  readonly root: HTMLElement
  /** The folder of the workspace; empty until the page has read it. */
  folder = ''
  readonly #history: LiveHistory
  readonly #menu: MakeMenu
  readonly #list = element('div', { class: 'items' })
  readonly #draft = element('div', { class: 'event-item message from-agent draft', hidden: true })
  readonly #top = element('p', { class: 'edge soft' })
  readonly #toEnd: HTMLButtonElement
  readonly #sizes: ResizeObserver
  readonly #rows = new Map<string, Row>()
  #growing: GrowingMarkdown | undefined
  #shownThought = 0
  #isAtEnd = true
  #unseen = 0
  /**
   * The heights of content and scroller at the last scroll. A scroll event with other heights comes from the layout,
   * not from the person.
   */
  #heights = ''

  constructor(history: LiveHistory, menu: MakeMenu) {
    this.#history = history
    this.#menu = menu
    this.#toEnd = button('to-end', '', () => void this.showEnd(), { hidden: true })
    const content = element('div', { class: 'timeline-content' }, this.#top, this.#list, this.#draft)
    const region = { class: 'scroller', tabindex: '0', role: 'region', 'aria-label': 'History' }
    const scroller = element('div', region, content)
    this.root = element('div', { class: 'timeline' }, scroller, this.#toEnd)
    scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    this.#sizes = new ResizeObserver(() => {
      if (this.#isAtEnd) this.#scrollToEnd()
    })
    this.#sizes.observe(content)
    this.#sizes.observe(scroller)
  }

  get #scroller(): Element {
    return this.root.firstElementChild ?? this.root
  }

  /** Draws a change of the history. Scrolls to the end if the list follows its end. */
  show({ touched, live }: HistoryChange): void {
    const { timeline, window } = this.#history
    if (touched === undefined) this.#keepPlace(() => this.#sync(timeline.items))
    else for (const item of touched) this.#touch(item)
    this.#markNewest()
    this.#showDraft(this.#history.draft)
    this.#top.textContent = window.isAtStart ? 'The beginning of the conversation' : 'Earlier events …'
    if (!this.#isAtEnd || !window.isAtEnd) this.#unseen += live.length
    if (this.#isAtEnd && window.isAtEnd) this.#scrollToEnd()
    this.#tellUnseen()
    this.#fillScreen()
  }

  /** Scrolls to the end of the conversation. If the last events are not loaded, first loads them. */
  async showEnd(): Promise<void> {
    await this.#jump(true, async (history) => {
      if (!history.window.isAtEnd) await history.move((window) => window.openAtEnd())
    })
    this.#scrollToEnd()
    this.#unseen = 0
    this.#tellUnseen()
  }

  async showStart(): Promise<void> {
    await this.#jump(false, async (history) => {
      if (!history.window.isAtStart) await history.move((window) => window.openAtStart())
    })
    this.#scroller.scrollTop = 0
  }

  /** Calls `open` to show another part of the history. Sets `#isAtEnd` again: scroll events may have changed it. */
  async #jump<Result>(isAtEnd: boolean, open: (history: LiveHistory) => Promise<Result>): Promise<Result> {
    this.#isAtEnd = isAtEnd
    const result = await open(this.#history)
    this.#isAtEnd = isAtEnd
    return result
  }

  /**
   * Scrolls to an event, unfolds its call, and selects `words` in it. If the event is not loaded, first loads it with
   * the events around it. Returns false when the event cannot be shown.
   */
  async showEvent(id: string, words = ''): Promise<boolean> {
    const isThere = await this.#jump(false, (history) => {
      return this.#find(id) === undefined ? history.move((window) => window.openAt(id)) : Promise.resolve(true)
    })
    if (isThere !== true) return false
    const row = this.#find(id)
    if (row === undefined) return false
    const call = row.querySelector(`[data-events~="${CSS.escape(id)}"]`)
    if (call instanceof HTMLDetailsElement) call.open = true
    for (const before of this.#list.querySelectorAll('.is-target')) before.classList.remove('is-target')
    row.classList.add('is-target')
    const place = call ?? row
    place.scrollIntoView({ block: 'center' })
    row.focus({ preventScroll: true })
    // The rows around the event get their heights in the next frame, and may move the event. So scroll again.
    await nextFrame()
    place.scrollIntoView({ block: 'center' })
    if (words !== '') selectFound(place, words)
    return true
  }

  /** Moves the focus to the next (1) or the previous item (-1); without a focused item, to the first or the last. */
  step(direction: 1 | -1): void {
    const rows = [...this.#list.children].filter((row) => row instanceof HTMLElement && row.offsetHeight > 0)
    const focused = document.activeElement?.closest('.event-item') ?? undefined
    const at = focused === undefined ? (direction === 1 ? -1 : rows.length) : rows.indexOf(focused)
    const row = rows[Math.max(0, Math.min(rows.length - 1, at + direction))]
    if (row instanceof HTMLElement) row.focus()
  }

  close(): void {
    this.#sizes.disconnect()
  }

  #find(id: string): HTMLElement | undefined {
    const item = this.#history.timeline.items.find((one) => {
      if (one.key === id) return true
      return one.type === 'calls' && one.calls.some(({ action, result }) => action.id === id || result?.id === id)
    })
    return item === undefined ? undefined : this.#rows.get(item.key)?.element
  }

  /** Makes the list show these items, in order. Unchanged rows keep their elements. */
  #sync(items: readonly Item[]): void {
    const keys = new Set(items.map(({ key }) => key))
    for (const [key, { element: row }] of this.#rows) {
      if (keys.has(key)) continue
      row.remove()
      this.#rows.delete(key)
    }
    let next = this.#list.firstElementChild
    for (const item of items) {
      const known = this.#rows.get(item.key)?.element
      const row = this.#rowOf(item)
      // If `next` was the old row of the item, `#rowOf` has put the new row in its position.
      if (next !== null && next === known) next = row
      if (row === next) next = next.nextElementSibling
      else this.#list.insertBefore(row, next)
    }
  }

  /** Marks the newest rows, if they are loaded, so that CSS can show their calls without a result as running. */
  #markNewest(): void {
    const newest = this.#history.window.isAtEnd ? [...this.#list.children].slice(-newestRows) : []
    for (const row of this.#list.querySelectorAll('.is-newest')) row.classList.toggle('is-newest', newest.includes(row))
    for (const row of newest) row.classList.add('is-newest')
  }

  #touch(item: Item): void {
    const known = this.#rows.get(item.key)?.element
    const row = this.#rowOf(item)
    if (known === undefined) this.#list.append(row)
  }

  /** Returns the row of an item. When the item has changed, makes a new row in the position of the old row. */
  #rowOf(item: Item): HTMLElement {
    const known = this.#rows.get(item.key)
    const signature = signatureOf(item)
    if (known?.signature === signature) return known.element
    const row = itemView(item, this.#menu, this.folder)
    if (known !== undefined) {
      copyFolds(known.element, row)
      known.element.replaceWith(row)
    }
    this.#rows.set(item.key, { element: row, signature })
    return row
  }

  #showDraft({ content, thought }: Draft): void {
    const isThere = content !== '' || thought !== ''
    this.#draft.hidden = !isThere
    if (!isThere) {
      this.#growing = undefined
      this.#shownThought = 0
      this.#draft.replaceChildren()
      return
    }
    if (this.#growing === undefined || content === '' && this.#shownThought !== thought.length) {
      this.#growing ??= new GrowingMarkdown()
      const open = this.#draft.querySelector('details')?.open === true
      const view = thought === '' ? undefined : thoughtView(thought)
      if (view instanceof HTMLDetailsElement) view.open = open
      const last = thought.slice(-200).split('\n').findLast((line) => line.trim() !== '') ?? ''
      const newest = open ? undefined : element('p', { class: 'thinking soft', dir: 'auto' }, last)
      fill(this.#draft, view, newest, this.#growing.root)
      this.#shownThought = thought.length
    }
    if (content !== '') this.#draft.querySelector('.thinking')?.remove()
    this.#growing.show(content)
  }

  /** Calls `change`. Then scrolls so that the first visible row stays in place, or if it is gone, the next row. */
  #keepPlace(change: () => void): void {
    const scroller = this.#scroller
    const top = scroller.getBoundingClientRect().top
    const place = [...this.#list.children].filter((row) => row.getBoundingClientRect().bottom > top).slice(0, 200)
      .map((row) => ({ row, at: row.getBoundingClientRect().top }))
    change()
    const kept = place.find(({ row }) => row.isConnected)
    if (kept !== undefined) scroller.scrollTop += kept.row.getBoundingClientRect().top - kept.at
  }

  #scrollToEnd(): void {
    const scroller = this.#scroller
    scroller.scrollTop = scroller.scrollHeight
    this.#heights = `${scroller.scrollHeight} ${scroller.clientHeight}`
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller
    const { window } = this.#history
    const below = scrollHeight - scrollTop - clientHeight
    const heights = `${scrollHeight} ${clientHeight}`
    const isOfReader = heights === this.#heights
    this.#heights = heights
    if (this.#isAtEnd && !isOfReader) this.#scrollToEnd()
    else this.#isAtEnd = below < endDistance && window.isAtEnd
    if (this.#isAtEnd) this.#unseen = 0
    this.#tellUnseen()
    if (scrollTop < readAhead && !window.isAtStart) void this.#grow((pages) => pages.older())
    else if (below < readAhead && !window.isAtEnd) void this.#grow((pages) => pages.newer())
  }

  #isGrowing = false
  async #grow(change: (window: LiveHistory['window']) => Promise<boolean>): Promise<void> {
    if (this.#isGrowing) return
    this.#isGrowing = true
    const hasGrown = await this.#history.move(change)
    await nextFrame()
    this.#isGrowing = false
    // The person may have scrolled on during the request. Then `#scrolled` loads more events.
    if (hasGrown === true) this.#scrolled()
  }

  /** Loads older events when the list is at most `readAhead / 3` pixels higher than the visible area. */
  #fillScreen(): void {
    const { scrollHeight, clientHeight } = this.#scroller
    const { window } = this.#history
    const isShort = scrollHeight <= clientHeight + readAhead / 3
    if (isShort && !window.isAtStart && window.events.length > 0) void this.#grow((pages) => pages.older())
  }

  #tellUnseen(): void {
    const isBehind = !this.#isAtEnd
    this.#toEnd.hidden = !isBehind
    this.#toEnd.textContent = this.#unseen > 0 ? `↓ ${this.#unseen} new` : '↓ To the end'
  }
}

/** Resolves after the next animation frame is drawn. */
function nextFrame(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done))
  })
}

/** Opens each `details` element of the row `to` if the `details` element with the same index in `from` is open. */
function copyFolds(from: HTMLElement, to: HTMLElement): void {
  const before = from.querySelectorAll('details')
  to.querySelectorAll('details').forEach((details, index) => {
    const known = before[index]
    if (known !== undefined) details.open = known.open || details.open
  })
}
