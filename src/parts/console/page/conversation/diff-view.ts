/** Draws the difference of two versions of a file in one column or side by side. */
import { element, fill } from '../dom.ts'
import { button, codeText } from './controls.ts'
import { diffOf, pairsOf, type Diff, type DiffRow } from './diff.ts'
import { textNodes } from './text-nodes.ts'

/** The most rows that are drawn at first. A button draws all rows. */
const rowLimit = 400
/** The most characters of a line that are shown. */
const lineLimit = 2000
const choiceName = 'agent-server-diff'

/** Draws the difference of the texts `before` and `after`, with `path` above it. `path` may be empty. */
export function diffView(path: string, before: string, after: string): HTMLElement {
  const diff = diffOf(before, after)
  const body = element('div', { class: 'diff-body', tabindex: '0', dir: 'ltr' })
  const form = element('button', { type: 'button', class: 'small' })
  const draw = (isSplit: boolean, isWhole: boolean): void => {
    form.textContent = isSplit ? 'In one column' : 'Side by side'
    form.onclick = () => {
      localStorage.setItem(choiceName, isSplit ? 'one' : 'split')
      draw(!isSplit, isWhole)
    }
    const isMore = !isWhole && rowsOf(diff) > rowLimit
    fill(body, isSplit ? splitTable(diff, isWhole) : oneTable(diff, isWhole),
      isMore ? button('small', `Show all ${rowsOf(diff)} lines`, () => draw(isSplit, true)) : undefined)
  }
  draw(localStorage.getItem(choiceName) === 'split', false)
  const head = element('div', { class: 'code-head' }, codeText(path, 'path'),
    element('span', { class: 'added' }, `+${diff.added}`),
    element('span', { class: 'removed' }, `−${diff.removed}`), form)
  return element('div', { class: 'diff' }, head, body)
}

function rowsOf({ hunks }: Diff): number {
  return hunks.reduce((count, hunk) => count + hunk.length, 0)
}

/** Returns all hunks if `isWhole`, else only the first `rowLimit` rows, in their hunks. */
function hunksOf(diff: Diff, isWhole: boolean): readonly (readonly DiffRow[])[] {
  if (isWhole) return diff.hunks
  let left = rowLimit
  return diff.hunks.map((hunk) => {
    const part = hunk.slice(0, left)
    left -= part.length
    return part
  }).filter((hunk) => hunk.length > 0)
}

const signs = { same: ' ', added: '+', removed: '−' } as const

function oneTable(diff: Diff, isWhole: boolean): HTMLElement {
  if (diff.hunks.length === 0) return element('p', { class: 'soft' }, 'No difference')
  const rowView = (row: DiffRow): HTMLElement => element('tr', { class: row.kind },
    element('td', { class: 'line-number' }, row.before), element('td', { class: 'line-number' }, row.after),
    element('td', { class: 'sign' }, signs[row.kind]), element('td', { class: 'line' }, lineNodes(row)))
  return element('table', { class: 'one' },
    hunksOf(diff, isWhole).map((hunk) => element('tbody', {}, hunk.map(rowView))))
}

function splitTable(diff: Diff, isWhole: boolean): HTMLElement {
  if (diff.hunks.length === 0) return element('p', { class: 'soft' }, 'No difference')
  const side = (row: DiffRow | undefined, number: number | undefined): HTMLElement[] => {
    const kind = row?.kind ?? 'nothing'
    return [
      element('td', { class: `line-number ${kind}` }, number),
      element('td', { class: `line ${kind}` }, row === undefined ? '' : lineNodes(row)),
    ]
  }
  return element('table', { class: 'split' }, hunksOf(diff, isWhole).map((hunk) => {
    return element('tbody', {}, pairsOf(hunk).map(({ left, right }) => {
      return element('tr', {}, side(left, left?.before), side(right, right?.after))
    }))
  }))
}

function lineNodes({ text }: DiffRow): ReturnType<typeof textNodes> {
  const rest = text.length - lineLimit
  return rest > 0 ? [textNodes(text.slice(0, lineLimit)), ` … ${rest} more characters`] : textNodes(text)
}
