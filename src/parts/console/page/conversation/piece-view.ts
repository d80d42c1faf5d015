/** Draws the pieces of a call (`call-pieces.ts`). */
import { element, fill, type Child } from '../dom.ts'
import type { Entry, Piece, Task } from './piece.ts'
import { button, codeText, soft } from './controls.ts'
import { diffView } from './diff-view.ts'
import { imageView } from './image-view.ts'
import { markdownView } from './markdown-view.ts'
import { terminalView } from './terminal-view.ts'
import { textNodes } from './text-nodes.ts'
import { copyButton, cutText, folded, jsonView } from './text-view.ts'
import { sizeText } from './words.ts'

/** The most paths or entries that are shown at first. A button shows all. */
const listLimit = 50

export function pieceView(piece: Piece): Child {
  switch (piece.type) {
    case 'command': return commandView(piece.text)
    case 'terminal': return terminalView(piece.text)
    case 'text': return plainView(piece.text, 'output')
    case 'file': return plainView(piece.text, 'output')
    case 'markdown': return markdownView(piece.text)
    case 'problem': return plainView(piece.text, 'refusal')
    case 'diff': return diffView('', piece.before, piece.after)
    case 'paths': return listView(piece.paths.map((path) => codeText(path)), piece.isCut)
    case 'entries': return listView(piece.entries.map(entryView), piece.isCut)
    case 'tasks': return tasksView(piece.tasks)
    case 'conversation':
      return element('p', {}, element('a', { href: `#/c/${piece.id}` }, 'History of the sub-agent'))
    case 'image': return imageView(piece.src, piece.alt)
    case 'json': return folded(piece.label, () => jsonView(piece.value), { open: piece.isOpen === true })
  }
}

/** Draws a command in full: a hidden part could do harm. */
export function commandView(text: string): HTMLElement {
  return element('div', { class: 'command' }, element('pre', { dir: 'ltr', tabindex: '0' },
    element('span', { class: 'prompt', 'aria-hidden': 'true' }, '$ '), textNodes(text)), copyButton(() => text))
}

function plainView(text: string, name: string): HTMLElement {
  return cutText(text, (part) => element('pre', { class: name, tabindex: '0' }, textNodes(part)))
}

function listView(items: readonly HTMLElement[], isCut: boolean): HTMLElement {
  const list = element('ul', { class: 'found' })
  const more = items.length - listLimit
  const show = (): void => fill(list, items.map((item) => element('li', {}, item)))
  fill(list, items.slice(0, listLimit).map((item) => element('li', {}, item)), more > 0
    ? element('li', {}, button('small', `${more} more`, show))
    : undefined)
  const note = items.length === 0 ? 'Nothing was found' : isCut ? 'The tool cut this list' : undefined
  return element('div', {}, list, note === undefined ? undefined : element('p', { class: 'soft' }, note))
}

function entryView({ name, isFolder, size }: Entry): HTMLElement {
  const facts = isFolder ? '' : ` ${sizeText(size)}`
  return element('span', {}, codeText(isFolder ? `${name}/` : name), soft(facts))
}

const taskSigns: Readonly<Record<string, readonly [sign: string, word: string]>> = {
  done: ['☑', 'Done'], in_progress: ['▸', 'In progress'],
}

export function tasksView(tasks: readonly Task[]): HTMLElement {
  return element('ul', { class: 'tasks' }, tasks.map(({ title, notes, status }) => {
    const [sign, word] = taskSigns[status] ?? ['☐', 'To do']
    return element('li', { class: `task ${status === 'done' ? 'is-done' : ''}` },
      element('span', { class: 'box', role: 'img', 'aria-label': word }, sign),
      element('span', { dir: 'auto' }, textNodes(title),
        notes === '' ? undefined : element('span', { class: 'soft' }, ' ', textNodes(notes))))
  }))
}
