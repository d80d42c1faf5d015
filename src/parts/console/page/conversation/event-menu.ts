/** The menu of an event, with actions such as `Copy text` and `Fork from here`. */
import { element, fill } from '../dom.ts'
import { memberAt } from '../values.ts'
import { button } from './controls.ts'
import { copyText } from './copy-text.ts'
import { contentText } from './fields.ts'
import { jsonView } from './text-view.ts'
import type { StoredEvent } from './timeline.ts'

export interface EventChoices {
  /** Returns the address at which the page opens the conversation at the event. */
  readonly link: (event: StoredEvent) => string
  readonly goBack: (event: StoredEvent) => void
  readonly fork: (event: StoredEvent) => void
  /** Goes back to the event before the message `event`, and puts the text of the message into the composer. */
  readonly edit: (event: StoredEvent, text: string) => void
}

export function menuButton(event: StoredEvent, choices: EventChoices): HTMLElement {
  const more = { 'aria-label': 'More', 'aria-haspopup': 'menu' }
  const opener = button('quiet-button more', '⋯', () => openMenu(opener, event, choices), more)
  return opener
}

function openMenu(opener: HTMLElement, event: StoredEvent, choices: EventChoices): void {
  const menu = element('div', { class: 'menu', role: 'menu', popover: 'auto' })
  const entry = (words: string, run: () => void): HTMLElement => {
    const choose = (): void => {
      menu.hidePopover()
      run()
    }
    return button('', words, choose, { role: 'menuitem' })
  }
  const text = event.kind === 'MessageEvent' ? contentText(memberAt(event.body, 'llm_message'), 'content') : ''
  fill(menu,
    text !== '' && entry('Copy text', () => void copyText(text)),
    text !== '' && event.source === 'user' && entry('Edit and send again', () => choices.edit(event, text)),
    entry('Go back to here', () => choices.goBack(event)),
    entry('Fork from here', () => choices.fork(event)),
    entry('Copy link', () => void copyText(choices.link(event))),
    entry('Show JSON', () => showJson(event)))
  menu.addEventListener('toggle', (change) => {
    if (change instanceof ToggleEvent && change.newState === 'closed') menu.remove()
  })
  menu.addEventListener('keydown', (key) => step(menu, key))
  document.body.append(menu)
  menu.showPopover()
  const { bottom, right } = opener.getBoundingClientRect()
  menu.style.top = `${Math.min(bottom, innerHeight - menu.offsetHeight - 8)}px`
  menu.style.left = `${Math.max(8, right - menu.offsetWidth)}px`
  menu.querySelector('button')?.focus()
}

function step(menu: HTMLElement, key: KeyboardEvent): void {
  const direction = key.key === 'ArrowDown' ? 1 : key.key === 'ArrowUp' ? -1 : 0
  if (direction === 0) return
  key.preventDefault()
  const entries = [...menu.querySelectorAll('button')]
  const at = entries.findIndex((entry) => entry === document.activeElement)
  entries[(at + direction + entries.length) % entries.length]?.focus()
}

function showJson(event: StoredEvent): void {
  const dialog = element('dialog', { class: 'panel-dialog', 'aria-label': 'JSON of the event' })
  fill(dialog, element('header', {}, element('strong', {}, event.kind),
    button('quiet-button', '×', () => dialog.close(), { 'aria-label': 'Close' })),
  jsonView(event.body))
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
