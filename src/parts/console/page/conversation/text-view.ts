/** Shows text of agents, commands and files. A long text is cut; a button shows the whole text. */
import { element, fill, type Child } from '../dom.ts'
import { copyText } from './copy-text.ts'
import { textNodes } from './text-nodes.ts'
import { excerptOf, rowsOf } from './visible-text.ts'

/** The most characters of a text that `cutText` draws before the person asks for the whole text. */
export const shownChars = 20_000
const rowWidth = 400
const rowHeight = 20
/** The number of extra rows that are drawn above the visible rows, and as many below. */
const spareRows = 20

/** Draws a text by `draw`. The middle of a long text is replaced by a button that shows the whole text. */
export function cutText(text: string, draw: (text: string) => Node): HTMLElement {
  const { head, omitted, tail } = excerptOf(text, shownChars)
  if (omitted === 0) return element('div', {}, draw(text))
  const holder = element('div', {})
  const show = (): void => fill(holder, allRows(text))
  const told = `${omitted.toLocaleString()} characters are not shown`
  const button = element('button', { type: 'button', class: 'small', onclick: show }, 'Show all')
  fill(holder, draw(head), element('p', { class: 'cut' }, `${told} `, button), draw(tail))
  return holder
}

/** Returns a box that scrolls through a whole text. Draws only the visible rows and the rows near them. */
function allRows(text: string): HTMLElement {
  const rows = rowsOf(text, rowWidth)
  const space = element('div', { class: 'rows-space' })
  const shown = element('pre', { class: 'rows-shown' })
  const box = element('div', { class: 'all-rows', tabindex: '0', role: 'region', 'aria-label': 'The whole text' },
    element('div', { class: 'rows-inner' }, space, shown))
  space.style.height = `${rows.length * rowHeight}px`
  const draw = (): void => {
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - spareRows)
    const count = Math.ceil(box.clientHeight / rowHeight) + 2 * spareRows
    shown.style.top = `${first * rowHeight}px`
    fill(shown, rows.slice(first, first + count).map((row) => element('div', { class: 'row-line' }, textNodes(row))))
  }
  box.addEventListener('scroll', draw, { passive: true })
  requestAnimationFrame(draw)
  return box
}

/** Returns a button that copies a text and shows the outcome for 1.5 seconds. */
export function copyButton(text: () => string, label = 'Copy'): HTMLElement {
  const button = element('button', { type: 'button', class: 'small copy' }, label)
  button.addEventListener('click', () => {
    const tell = (word: string): void => {
      button.textContent = word
      setTimeout(() => button.textContent = label, 1500)
    }
    void copyText(text()).then((isCopied) => tell(isCopied ? 'Copied' : 'Not allowed'))
  })
  return button
}

/** Returns an element with a value as indented JSON. Long JSON is cut. */
export function jsonView(value: unknown): HTMLElement {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  return cutText(text, (part) => element('pre', { class: 'json' }, textNodes(part)))
}

/** Returns a `details` element that a click unfolds. `make` makes its content when it is first unfolded. */
export function folded(
  summary: Child, make: () => Child, attributes: { readonly class?: string; readonly open?: boolean } = {},
): HTMLElement {
  const body = element('div', { class: 'folded-body' })
  const details = element('details', { class: attributes.class ?? 'folded', open: attributes.open === true },
    element('summary', {}, summary), body)
  let isMade = false
  const show = (): void => {
    if (!details.open || isMade) return
    isMade = true
    fill(body, make())
  }
  details.addEventListener('toggle', show)
  show()
  return details
}
