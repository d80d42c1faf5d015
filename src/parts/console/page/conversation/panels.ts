/** The panels beside the history: search, files, export, frames. At most one is open. */
import type { Api } from '../api.ts'
import { element, fill } from '../dom.ts'
import { button } from './controls.ts'
import { exportPanel } from './export-panel.ts'
import { filesPanel } from './files-panel.ts'
import { framesPanel, type Panel } from './frames-panel.ts'
import type { LiveHistory } from './live-history.ts'
import { searchPanel } from './search-panel.ts'

export interface PanelsOptions {
  readonly api: Api
  readonly id: string
  readonly history: LiveHistory
  readonly title: () => string
  /** Shows an event in the history, and selects `words` in it. */
  readonly show: (eventId: string, words: string) => void
}

const names = { search: 'Search', files: 'Files', export: 'Export', frames: 'Frames' } as const
export type PanelName = keyof typeof names

export class Panels {
  readonly root = element('aside', { class: 'panel', hidden: true })
  readonly buttons: HTMLElement
  /** The folder of the workspace; empty until the page has read it. */
  folder = ''
  readonly #options: PanelsOptions
  #name: PanelName | undefined
  #panel: Panel | undefined

  constructor(options: PanelsOptions) {
    this.#options = options
    const title = 'Show events that only builders of clients read'
    const quiet = button('quiet-button', 'All events', () => {
      const isOn = document.body.classList.toggle('all-events')
      quiet.setAttribute('aria-pressed', String(isOn))
    }, { title, 'aria-pressed': String(document.body.classList.contains('all-events')) })
    const entries = Object.entries(names).map(([name, words]) => {
      const more = { 'data-panel': name, 'aria-expanded': 'false' }
      return element('button', { type: 'button', class: 'quiet-button', ...more }, words)
    })
    this.buttons = element('nav', { class: 'panel-buttons', 'aria-label': 'Panels' }, entries, quiet)
    this.buttons.addEventListener('click', ({ target }) => {
      const name = target instanceof HTMLElement ? target.dataset['panel'] : undefined
      if (isPanel(name)) this.#toggle(name)
    })
  }

  open(name: PanelName): void {
    if (name !== this.#name) {
      this.close()
      this.#name = name
      this.#panel = this.#make(name)
      this.root.hidden = false
      this.root.setAttribute('aria-label', names[name])
      const close = button('quiet-button', '×', () => void this.close(), { 'aria-label': 'Close' })
      const head = element('header', { class: 'panel-head' }, element('h2', {}, names[name]), close)
      fill(this.root, head, this.#panel.root)
      this.#mark()
    }
    this.root.querySelector('input')?.focus()
  }

  /** Closes the open panel. Returns whether a panel was open. */
  close(): boolean {
    const wasOpen = this.#name !== undefined
    this.#panel?.close()
    this.#panel = undefined
    this.#name = undefined
    this.root.hidden = true
    this.root.replaceChildren()
    this.#mark()
    return wasOpen
  }

  #toggle(name: PanelName): void {
    if (name === this.#name) this.close()
    else this.open(name)
  }

  #mark(): void {
    for (const button of this.buttons.querySelectorAll<HTMLElement>('[data-panel]')) {
      button.setAttribute('aria-expanded', String(button.dataset['panel'] === this.#name))
    }
  }

  #make(name: PanelName): Panel {
    const { api, id, history, show, title } = this.#options
    const still = (root: HTMLElement): Panel => ({ root, close: () => undefined })
    switch (name) {
      case 'search': return searchPanel({ api, id, show })
      case 'files': return still(filesPanel({ api, id, folder: () => this.folder }))
      case 'export': return still(exportPanel({ api, id, title }))
      case 'frames': return framesPanel(history.frames)
    }
  }
}

function isPanel(name: string | undefined): name is PanelName {
  return name !== undefined && Object.hasOwn(names, name)
}
