/**
 * The keys of the page. A view binds its keys while it is open; `?` lists the bound keys.
 *
 * A person can switch off the keys of a single character, because speech input can press them by accident.
 */
import { element, fill } from './dom.ts'

export interface Binding {
  /** The name of the key in `KeyboardEvent.key`, such as `n` or `Escape`. */
  readonly key: string
  readonly about: string
  /** Runs the command. Returns false when there was nothing to do; the next binding of the key is then tried. */
  readonly run: () => void | boolean
  /** True for a key that works in text fields too. */
  readonly inFields?: boolean
}

interface Group {
  readonly title: string
  readonly bindings: readonly Binding[]
}

const groups = new Set<Group>()
const offName = 'agent-server-single-keys-off'
const names: Readonly<Record<string, string>> = { Escape: 'Esc' }

/** Binds the keys of a view. Returns a function that unbinds them. */
export function bindKeys(title: string, bindings: readonly Binding[]): () => void {
  const group = { title, bindings }
  groups.add(group)
  return () => groups.delete(group)
}

/** Starts to listen to the keyboard. Returns a function that ends the listening. */
export function listenToKeys(): () => void {
  document.addEventListener('keydown', press)
  return () => document.removeEventListener('keydown', press)
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
  if (document.querySelector('dialog[open], [popover]:popover-open') !== null) return
  const isSingle = event.key.length === 1
  if (isSingle && localStorage.getItem(offName) !== null) return
  const { target } = event
  const isField = target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null
  const found = [...groups].reverse().flatMap(({ bindings }) => bindings)
    .filter(({ key, inFields = false }) => key === event.key && (inFields || !isField))
  if (found.some(({ run }) => run() !== false)) event.preventDefault()
}

/** Opens the list of the keys that are bound now. */
export function showKeys(): void {
  const isOff = localStorage.getItem(offName) !== null
  const choice = element('input', { type: 'checkbox', checked: !isOff, id: 'single-keys', onchange: () => {
    if (choice.checked) localStorage.removeItem(offName)
    else localStorage.setItem(offName, 'off')
  } })
  const close = element('button', { type: 'button', onclick: () => dialog.close() }, 'Close')
  const dialog = element('dialog', { class: 'keys', 'aria-labelledby': 'keys-title', onclose: () => dialog.remove() },
    element('header', {}, element('h2', { id: 'keys-title' }, 'Keys'), close),
    [...groups].map(({ title, bindings }) => [element('h3', {}, title), element('dl', {}, bindings.map(rowOf))]),
    element('div', { class: 'field check' }, choice,
      element('label', { for: 'single-keys' }, 'Keys of a single character work')))
  document.body.append(dialog)
  dialog.showModal()
}

function rowOf({ key, about }: Binding): HTMLElement {
  const row = element('div', {})
  fill(row, element('dt', {}, element('kbd', {}, names[key] ?? key)), element('dd', {}, about))
  return row
}
