/** Turns text of agents, commands and files into nodes, with a mark for each invisible character. */
import { element, type Child } from '../dom.ts'
import { visible } from './visible-text.ts'

export function textNodes(text: string): readonly Child[] {
  return visible(text).map((part) => {
    if ('text' in part) return part.text
    return element('span', { class: 'unseen-mark', title: 'An invisible character' }, part.mark)
  })
}
