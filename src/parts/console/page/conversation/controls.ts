/** Small elements that many views use. */
import { element, type Attributes, type Child } from '../dom.ts'
import { textNodes } from './text-nodes.ts'

/** Returns a button that submits no form. `look` is its CSS class; an empty text sets no class. */
export function button(look: string, words: Child, run: () => void, more: Attributes = {}): HTMLButtonElement {
  const name = look === '' ? undefined : look
  return element('button', { type: 'button', class: name, onclick: () => run(), ...more }, words)
}

/** Returns an element with a path, a command or an address, written from left to right. */
export function codeText(text: string, look?: string): HTMLElement {
  return element('bdi', { dir: 'ltr', class: look }, textNodes(text))
}

/** Returns an element with less prominent text. */
export function soft(...children: readonly Child[]): HTMLElement {
  return element('span', { class: 'soft' }, children)
}

export function softLine(words: string): HTMLElement {
  return element('p', { class: 'soft' }, words)
}
