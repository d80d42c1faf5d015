/** The panel with the newest frames of the socket, for people who build clients. */
import { element, fill } from '../dom.ts'
import type { FrameLog, LoggedFrame } from './frame-log.ts'
import { textNodes } from './text-nodes.ts'
import { copyButton, folded } from './text-view.ts'

const shownFrames = 100

export interface Panel {
  readonly root: HTMLElement
  close(): void
}

export function framesPanel(log: FrameLog): Panel {
  const list = element('div', { class: 'frames' })
  const told = element('p', { class: 'soft' })
  const hold = element('input', { type: 'checkbox' })
  let shown = -1
  const draw = (): void => {
    if (log.count === shown || hold.checked) return
    const first = shown
    shown = log.count
    const rest = log.count > shownFrames ? `; the newest ${shownFrames} are shown` : ''
    told.textContent = `${log.count} ${log.count === 1 ? 'frame' : 'frames'} came${rest}`
    const fresh = log.frames.filter(({ number }) => number > first).slice(-shownFrames).reverse()
    list.prepend(...fresh.map(frameView))
    while (list.childElementCount > shownFrames) list.lastElementChild?.remove()
  }
  const timer = setInterval(draw, 250)
  draw()
  const root = element('div', { class: 'panel-body' }, element('label', { class: 'hold' }, hold, 'Hold'), told, list)
  return { root, close: () => clearInterval(timer) }
}

function frameView({ number, text, size }: LoggedFrame): HTMLElement {
  const kind = /"kind":"(\w+)"/.exec(text.slice(0, 200))?.[1] ?? 'frame'
  const key = /"key":"(\w+)"/.exec(text.slice(0, 400))?.[1]
  const summary = element('span', {}, `${number} `, element('code', {}, kind), key === undefined ? '' : ` ${key}`,
    element('span', { class: 'soft' }, ` ${size.toLocaleString()} characters`))
  return folded(summary, () => {
    const pre = element('pre', { class: 'json' })
    fill(pre, textNodes(readable(text)))
    return [copyButton(() => text), pre]
  })
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text // Not JSON: it is shown as text.
  }
}
