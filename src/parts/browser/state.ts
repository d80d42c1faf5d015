/**
 * The state of a page for a model: its elements as numbered lines, and on request a screenshot of the visible part.
 *
 * A number is valid at most until the state is read again or the page changes to another document. Elements more than
 * one screen above or below the visible part are not listed.
 */
import { AppError } from '../../base/errors.ts'
import type { Browser } from './browser.ts'
import { objectOf, objectsOf, type Fields } from '../../base/fields.ts'
import { lineOf, numberOrZero, textOrEmpty, textsOf } from './fields.ts'
import { callIn, listFrames, type PageFrame } from './frames.ts'
import { viewport } from './launch.ts'
import type { Outcome } from './outcome.ts'
import { findElements } from './page/elements.ts'
import type { NumberedElement, Tab } from './tab.ts'

const elementLimit = 300
const textLimitChars = 30_000
const labelChars = 100
const scriptLimits = { timeMs: 4000, textChars: 300, options: 20, nearPx: viewport.height }

interface StateText {
  readonly lines: string[]
  readonly elements: NumberedElement[]
  chars: number
  above: number
  below: number
  unseen: number
}

/**
 * Returns the page's state, and sets `Tab.elements` to the elements in it.
 * @throws AppError `upstream_failed` after a crash of the tab; the errors of `listFrames` and `callIn`
 */
export async function readState(
  browser: Browser, { withScreenshot }: { withScreenshot: boolean }, signal: AbortSignal,
): Promise<Outcome> {
  const tab = browser.current
  tab.assertAlive()
  const frames = await listFrames(tab.sessions, { signal })
  const text: StateText = { lines: [], elements: [], chars: 0, above: 0, below: 0, unseen: 0 }
  const [head, ...parts] = await describeFrames(text, frames, signal)
  tab.elements = text.elements
  const page = [head, ...parts, ...text.lines].filter((line) => line !== undefined).join('\n')
  const screenshot = withScreenshot ? await takeScreenshot(tab, signal) : undefined
  return { said: summaryOf(tab, browser, text), page, ...(screenshot === undefined ? {} : { screenshot }) }
}

/** Returns a screenshot of the visible part of the page, as PNG in base64. */
export async function takeScreenshot({ session }: Tab, signal: AbortSignal): Promise<string> {
  return textOrEmpty((await session.call('Page.captureScreenshot', { format: 'png' }, { signal }))['data'])
}

/** Adds the elements of the frames to `text`. Returns the lines with address, title and scroll position of the page. */
async function describeFrames(text: StateText, frames: readonly PageFrame[], signal: AbortSignal): Promise<string[]> {
  const head: string[] = []
  for (const [index, frame] of frames.entries()) {
    const limits = { ...scriptLimits, items: elementLimit - text.elements.length }
    const found = await callIn(frame, findElements, [limits], { signal }).catch((thrown: unknown) => {
      // An AppError of an inner frame is ignored: the frame may have disappeared. Any other error is thrown.
      if (index === 0 || !(thrown instanceof AppError)) throw thrown
    })
    if (found === undefined) continue
    if (index === 0) {
      head.push(`URL: ${lineOf(found['url'], 2000)}`, `Title: ${lineOf(found['title'], 200)}`, scrollLine(found))
    }
    addFrame(text, frame, found, index > 0)
  }
  return head
}

function scrollLine({ above, below, state }: Fields): string {
  const loading = state === 'complete' ? '' : ' It is still loading.'
  const px = [numberOrZero(above), Math.max(0, numberOrZero(below))] as const
  return `The page goes on for ${px[0]} px above and ${px[1]} px below the screen.${loading}`
}

function addFrame(text: StateText, frame: PageFrame, found: Fields, isInner: boolean): void {
  const { above, below, unseen } = objectOf(found['counts'])
  text.above += numberOrZero(above)
  text.below += numberOrZero(below)
  text.unseen += numberOrZero(unseen) + (found['isComplete'] === true ? 0 : 1)
  const items = objectsOf(found['items'])
  if (isInner && items.length > 0) text.lines.push(`In the frame ${lineOf(frame.url, 200)}:`)
  for (const [place, item] of items.entries()) {
    const line = `[${text.elements.length}] ${describeElement(item, frame.url)}`
    if (text.chars + line.length > textLimitChars) {
      text.unseen += items.length - place
      return
    }
    text.chars += line.length
    text.lines.push(line)
    text.elements.push({ frame, place })
  }
}

function describeElement(item: Fields, base: string): string {
  const parts = [kindOf(item), JSON.stringify(lineOf(item['name'], labelChars))]
  if (item['value'] !== undefined) parts.push(`value=${JSON.stringify(lineOf(item['value'], labelChars))}`)
  if (item['href'] !== undefined) parts.push(`-> ${withoutOrigin(lineOf(item['href'], labelChars * 2), base)}`)
  const options = textsOf(item['options']).map((option) => JSON.stringify(lineOf(option, 40)))
  if (options.length > 0) parts.push(`options: ${options.join(', ')}`)
  const notes = textsOf(item['notes'])
  if (notes.length > 0) parts.push(`(${notes.join(', ')})`)
  return parts.join(' ')
}

function kindOf({ tag, role, type }: Fields): string {
  if (textOrEmpty(role) !== '') return lineOf(role, 30)
  if (tag === 'a') return 'link'
  return type === undefined ? textOrEmpty(tag) : `${textOrEmpty(tag)} ${lineOf(type, 30)}`
}

function withoutOrigin(href: string, base: string): string {
  const origin = URL.canParse(base) ? new URL(base).origin : ''
  return origin !== 'null' && href.startsWith(`${origin}/`) ? href.slice(origin.length) : href
}

function summaryOf(tab: Tab, browser: Browser, { elements, above, below, unseen }: StateText): string {
  const tabs = browser.tabs.length === 1 ? '' : ` of ${browser.tabs.length}`
  const more = [
    above > 0 ? `about ${above} more above` : '',
    below > 0 ? `about ${below} more below` : '',
    unseen > 0 ? 'not all are shown' : '',
  ].filter((part) => part !== '')
  const rest = more.length === 0 ? '' : ` (${more.join(', ')})`
  return `Tab ${tab.id}${tabs}. ${elements.length} element${elements.length === 1 ? '' : 's'} near the ` +
    `screen${rest}, each with its index in brackets.`
}
