/** Elements that many views use: buttons, and texts that are written from left to right whatever surrounds them. */
import { element, type Attributes, type Child } from '../dom.ts'
import { textNodes } from './text-nodes.ts'

/** A button that submits no form. `look` is the name of its class; an empty one is the usual look. */
export function button(look: string, words: Child, run: () => void, more: Attributes = {}): HTMLButtonElement {
  const name = look === '' ? undefined : look
  return element('button', { type: 'button', class: name, onclick: () => run(), ...more }, words)
}

/** A path, a command, an address. */
export function codeText(text: string, look?: string): HTMLElement {
  return element('bdi', { dir: 'ltr', class: look }, textNodes(text))
}

/** Words of less weight. */
export function soft(...children: readonly Child[]): HTMLElement {
  return element('span', { class: 'soft' }, children)
}

export function softLine(words: string): HTMLElement {
  return element('p', { class: 'soft' }, words)
}
