/** The view of one conversation. The address `#/c/<id>?event=<event id>` opens the conversation at an event. */
import type { AgentQueue } from '../agent-queue.ts'
import type { Api } from '../api.ts'
import { element, fill, type Child } from '../dom.ts'
import { bindKeys } from '../keys.ts'
import type { Outage } from '../outage.ts'
import type { View } from '../router.ts'
import { memberAt, textAt } from '../values.ts'
import { ConversationActions } from './actions.ts'
import { Composer } from './composer.ts'
import { isWorking, statusOfState } from './conversation-state.ts'
import { menuButton, type EventChoices } from './event-menu.ts'
import { contentText } from './fields.ts'
import { LiveHistory, type HistoryChange } from './live-history.ts'
import { Panels } from './panels.ts'
import { QuestionsView } from './questions-view.ts'
import { StatusView } from './status-view.ts'
import { TasksView } from './tasks-view.ts'
import { TimelineView } from './timeline-view.ts'
import type { StoredEvent } from './timeline.ts'

export interface ConversationContext {
  readonly api: Api
  readonly id: string
  readonly queue: AgentQueue
  readonly outage: Outage
  /** Opens another view by its path, such as `/settings`. */
  readonly navigate: (path: string) => void
}

export function openConversation(root: HTMLElement, context: ConversationContext): View {
  const page = new ConversationPage(root, context, loadStyles())
  return { close: () => page.close() }
}

class ConversationPage {
  readonly #context: ConversationContext
  readonly #history: LiveHistory
  readonly #actions: ConversationActions
  readonly #timeline: TimelineView
  readonly #status: StatusView
  readonly #questions: QuestionsView
  readonly #tasks = new TasksView()
  readonly #composer: Composer
  readonly #panels: Panels
  readonly #announcer = element('div', { class: 'only-heard', 'aria-live': 'polite' })
  readonly #title = element('h1', { class: 'conversation-title', dir: 'auto' })
  readonly #root: HTMLElement
  readonly #unbind: () => void
  #isClosed = false

  constructor(root: HTMLElement, context: ConversationContext, styles: Promise<void>) {
    this.#context = context
    this.#root = root
    const { api, id, queue, navigate } = context
    const tell = (problem: string): void => this.#tell(problem)
    this.#history = new LiveHistory(api, id, (change) => this.#changed(change))
    this.#actions = new ConversationActions(api, id, tell)
    this.#timeline = new TimelineView(this.#history, (event) => menuButton(event, this.#choices()))
    const place = (): string | undefined => queue.placeOf(id)
    this.#status = new StatusView({ history: this.#history, actions: this.#actions, place, navigate })
    this.#questions = new QuestionsView({ actions: this.#actions, items: () => this.#history.timeline.items })
    this.#composer = new Composer(id, this.#actions, tell)
    this.#panels = new Panels({
      api, id, history: this.#history, title: () => this.#title.textContent,
      show: (eventId, words) => void this.#timeline.showEvent(eventId, words),
    })
    fill(root, this.#layout())
    const unfollow = queue.follow(() => this.#status.show())
    const unbind = this.#bindKeys()
    this.#unbind = () => {
      unfollow()
      unbind()
    }
    void this.#open(styles)
  }

  close(): void {
    this.#isClosed = true
    this.#context.outage.conversation(undefined)
    this.#unbind()
    this.#history.close()
    this.#timeline.close()
    this.#status.close()
    this.#questions.close()
    this.#panels.close()
    this.#root.replaceChildren()
  }

  /** Opens the history after the styles are loaded, because the positions of events depend on the styles. */
  async #open(styles: Promise<void>): Promise<void> {
    const eventId = new URLSearchParams(location.hash.split('?')[1]).get('event') ?? undefined
    const [info] = await Promise.all([this.#actions.info(), styles])
    if (this.#isClosed) return
    this.#showTitle(info)
    await this.#history.open(eventId)
    if (this.#isClosed) return
    if (info === undefined) void this.#readTitle() // The first read of the title has failed.
    if (eventId !== undefined) await this.#timeline.showEvent(eventId)
    else if (matchMedia('(hover: hover)').matches) this.#composer.focus()
  }

  #layout(): Child {
    return element('div', { class: 'conversation' },
      element('header', { class: 'conversation-head' }, this.#title, this.#panels.buttons),
      this.#status.problem,
      element('div', { class: 'conversation-body' }, this.#timeline.root, this.#panels.root),
      this.#tasks.root,
      this.#questions.root,
      element('footer', { class: 'conversation-foot' }, this.#composer.root, this.#status.root),
      this.#announcer)
  }

  #changed(change: HistoryChange): void {
    const { state } = this.#history
    this.#timeline.show(change)
    // `note` is about the person's next message, so a new message of the person removes it.
    const isSent = change.live.some(({ kind, source }) => kind === 'MessageEvent' && source === 'user')
    if (isSent) this.#history.note = undefined
    this.#tellOutage()
    this.#status.show()
    this.#tasks.show(this.#history, change)
    this.#composer.show(isWorking(state), statusOfState(state) === 'paused')
    void this.#questions.show(state)
    this.#root.dataset['status'] = statusOfState(state)
    for (const event of change.live) this.#announce(event)
  }

  #tellOutage(): void {
    const { connection, isCut } = this.#history
    const retryAt = connection.name === 'waiting' ? connection.retryAt : undefined
    this.#context.outage.conversation(isCut ? { retryAt, retry: () => this.#history.retry() } : undefined)
  }

  async #readTitle(): Promise<void> {
    const info = await this.#actions.info()
    if (info !== undefined && !this.#isClosed) this.#showTitle(info)
  }

  #showTitle(info: unknown): void {
    const folder = textAt(info, 'workspace', 'working_dir')
    this.#title.textContent = info === undefined ? '' : textAt(info, 'title') || 'Untitled'
    this.#title.title = folder
    document.title = `${this.#title.textContent || 'Conversation'} · Agent Server`
    this.#panels.folder = folder
    this.#timeline.folder = folder
  }

  /** Announces important events to screen readers. Reads the title again if the title may have changed. */
  #announce({ kind, source, body }: StoredEvent): void {
    const say = (words: string): void => {
      this.#announcer.textContent = words.slice(0, 300)
    }
    const isMessage = kind === 'MessageEvent'
    if (isMessage && source !== 'user') say(`Agent: ${contentText(memberAt(body, 'llm_message'), 'content')}`)
    if (kind === 'ConversationErrorEvent') say(`Error: ${textAt(body, 'detail')}`)
    const status = textAt(body, 'key') === 'execution_status' ? textAt(body, 'value') : ''
    if (status === 'waiting_for_confirmation') say('The agent asks a question')
    // The server makes the title some time after the first message, and records no event about it.
    if (isMessage && source === 'user' || status === 'finished') void this.#readTitle()
  }

  /**
   * Copies the conversation up to an event, with its title. Returns the id of the copy; undefined when the request
   * fails.
   */
  async #fork(eventId: string): Promise<string | undefined> {
    return this.#actions.fork(eventId, textAt(await this.#actions.info(), 'title'))
  }

  #choices(): EventChoices {
    const { id, navigate } = this.#context
    const base = location.href.replace(/#[^]*/, '')
    return {
      link: (event) => `${base}#/c/${encodeURIComponent(id)}?event=${encodeURIComponent(event.id)}`,
      goBack: (event) => void this.#goBack(event.id),
      fork: (event) => void this.#fork(event.id).then((copy) => {
        if (copy !== undefined && !this.#isClosed) navigate(`/c/${copy}`)
      }),
      edit: (event, text) => void this.#edit(event, text),
    }
  }

  async #goBack(id: string | null): Promise<boolean> {
    const isDone = await this.#actions.goBackTo(id)
    const place = id === null ? 'begins the conversation again' : 'follows the event that you chose'
    if (isDone) this.#note(`The next message ${place}`)
    return isDone
  }

  async #edit(event: StoredEvent, text: string): Promise<void> {
    const { events, isAtStart } = this.#history.window
    const at = events.findIndex(({ id }) => id === event.id)
    const before = events[at - 1]
    if (before === undefined && !isAtStart) return this.#tell('Scroll up a little, then try again')
    if (await this.#goBack(before?.id ?? null)) this.#composer.edit(text)
  }

  #note(words: string): void {
    this.#history.note = words
    this.#status.show()
  }

  #tell(problem: string): void {
    this.#history.problem = problem
    this.#status.show()
  }

  #bindKeys(): () => void {
    const timeline = this.#timeline
    return bindKeys('This conversation', [
      { key: 'Escape', about: 'Close the panel, or stop the agent', inFields: true, run: () => this.#escape() },
      { key: 'm', about: 'Write a message', run: () => this.#composer.focus() },
      { key: 'q', about: 'Go to the question of the agent', run: () => this.#questions.focus() },
      { key: 'j', about: 'Next event', run: () => timeline.step(1) },
      { key: 'k', about: 'Previous event', run: () => timeline.step(-1) },
      { key: 'Home', about: 'Beginning of the conversation', run: () => void timeline.showStart() },
      { key: 'End', about: 'End of the conversation', run: () => void timeline.showEnd() },
      { key: '/', about: 'Search the history', run: () => this.#panels.open('search') },
      { key: 'r', about: 'Let the agent continue', run: () => void this.#actions.run() },
      { key: 'p', about: 'Pause the agent after its step', run: () => void this.#actions.pause() },
    ])
  }

  /** Handles Esc: closes the open panel, else stops the agent. Returns false when there was nothing to do. */
  #escape(): boolean {
    if (this.#panels.close()) return true
    const isRunning = isWorking(this.#history.state)
    if (isRunning) void this.#actions.stop()
    return isRunning
  }
}

/** Loads `conversation.css` from the folder of the page's style sheet, once. Resolves also when the load fails. */
export function loadStyles(): Promise<void> {
  return (styles ??= new Promise((resolve) => {
    const first = document.querySelector<HTMLLinkElement>('link[rel=stylesheet]')
    const href = first?.href.replace(/styles\.css$/, 'conversation.css')
    const link = element('link', { rel: 'stylesheet', href })
    link.addEventListener('load', () => resolve())
    link.addEventListener('error', () => resolve()) // The page is shown without this style sheet.
    document.head.append(link)
  }))
}

let styles: Promise<void> | undefined
