/**
 * Clicks, types, scrolls and sets fields in a page.
 *
 * An element is named by its index in the last state of the page (`readState`). A covered element is not clicked. Each
 * exported function also throws the errors of `CdpConnection.call`.
 */
import { AppError } from '../../base/errors.ts'
import { sleep } from '../../base/wait.ts'
import type { Browser } from './browser.ts'
import type { CallOptions, CdpSession } from './connection.ts'
import { objectOf, type Fields } from '../../base/fields.ts'
import { lineOf, numberOrZero, textOrEmpty } from './fields.ts'
import { callIn, callOn, cornerOf, elementIn, listFrames, originOf, type PageFrame } from './frames.ts'
import { viewport } from './launch.ts'
import { outcomeOn, PageRefusal, type Outcome } from './outcome.ts'
import { elementAt } from './page/elements.ts'
import { pointTo, scrollPage } from './page/pointer.ts'
import { prepareTyping, valueNow } from './page/typing.ts'
import type { Tab } from './tab.ts'

interface Point {
  readonly x: number
  readonly y: number
}

/** An element of a page: `index` is its number in the last `readState`, `objectId` its handle in the browser. */
interface Target {
  readonly index: number
  readonly tab: Tab
  readonly frame: PageFrame
  readonly objectId: string
}

/** The most times that the position of a moving element is read again before a click. */
const placeReadings = 10
const placeIntervalMs = 50
const shownChars = 200
const controlKey = 2

/** Clicks an element. @throws AppError `invalid_input` (no such index), `not_found` (gone), `conflict` (unclickable) */
export async function click(
  browser: Browser, { index, newTab }: { index: number; newTab: boolean }, signal: AbortSignal,
): Promise<Outcome> {
  const tab = browser.current
  const target = await findTarget(tab, index, signal)
  const before = new Set(browser.tabs)
  const point = await findPoint(target, signal)
  await giveInput(tab, () => press(tab.session, point, newTab ? controlKey : 0, signal), signal)
  if (!newTab) return outcomeOn(browser, `Element ${index} was clicked.`, signal)
  const opened = browser.tabs.find((one) => !before.has(one))
  if (opened === undefined) {
    return outcomeOn(browser, `Element ${index} was clicked, but no new tab was opened by it.`, signal)
  }
  tab.takeNotices()
  await browser.switchTo(opened, { signal })
  await opened.settle(signal)
  return outcomeOn(
    browser, `Element ${index} was clicked and has opened tab ${opened.id}, which is the current one now.`, signal,
  )
}

/**
 * Replaces the value of a field. In a single-line text field, a line end at the end of the text presses Enter.
 * @throws AppError `invalid_input` and `not_found` as for `click`, `conflict` when the element does not accept the text
 */
export async function type(
  browser: Browser, { index, text }: { index: number; text: string }, signal: AbortSignal,
): Promise<Outcome> {
  const tab = browser.current
  const target = await findTarget(tab, index, signal)
  const { session } = target.frame
  const prepared = objectOf(await callOn(session, target.objectId, prepareTyping, [text], { signal }))
  if (prepared['problem'] !== undefined) throw refused(index, 'type into', prepared)
  const pressesEnter = prepared['isSingleLine'] === true && /\r?\n$/.test(text)
  if (prepared['isReady'] === true) await insert(session, pressesEnter ? text.replace(/\r?\n$/, '') : text, signal)
  const holds = lineOf(await callOn(session, target.objectId, valueNow, [shownChars], { signal }), shownChars)
  await giveInput(tab, async () => {
    if (pressesEnter) await pressKey(session, 'Enter', 13, '\r', signal)
  }, signal)
  const { said, page = '' } = await outcomeOn(
    browser, `The text was typed into element ${index}${pressesEnter ? ', and Enter was pressed' : ''}.`, signal,
  )
  return { said, page: `The element held: ${JSON.stringify(holds)}\n${page}` }
}

/** Scrolls the current page with the script `scrollPage`. If nothing moves, turns the wheel over the page's middle. */
export async function scroll(browser: Browser, direction: 'up' | 'down', signal: AbortSignal): Promise<Outcome> {
  const tab = browser.current
  tab.assertAlive()
  const [main] = await listFrames(tab.sessions.slice(0, 1), { signal })
  if (main === undefined) throw new AppError('upstream_failed', 'The tab shows no page')
  const sign = direction === 'down' ? 1 : -1
  const { moved, above, below, what } = await callIn(main, scrollPage, [sign], { signal })
  const place = `${numberOrZero(above)} px are above the screen now, ${numberOrZero(below)} px below`
  if (numberOrZero(moved) !== 0) {
    const px = Math.abs(numberOrZero(moved))
    return { said: `The ${textOrEmpty(what)} was scrolled ${direction} by ${px} px: ${place}.` }
  }
  // The middle of the page may show a frame, which `scrollPage` does not scroll. The mouse wheel scrolls it.
  const wheel = {
    type: 'mouseWheel',
    x: viewport.width / 2,
    y: viewport.height / 2,
    deltaX: 0,
    deltaY: sign * viewport.height * 0.85,
  }
  await tab.session.call('Input.dispatchMouseEvent', wheel, { signal })
  return {
    said: `The page itself cannot be scrolled ${direction} any further (${place}). The wheel was turned over its ` +
      'middle.',
  }
}

async function findTarget(tab: Tab, index: number, signal: AbortSignal): Promise<Target> {
  tab.assertAlive()
  const element = tab.elements[index]
  if (element === undefined) {
    const expected = tab.elements.length === 0
      ? 'read the state of the page first'
      : `expected 0 to ${tab.elements.length - 1}, as in the last state of the page`
    throw new AppError('invalid_input', `There is no element ${index}: ${expected}`)
  }
  const objectId = await elementIn(element.frame, elementAt, [element.place], { signal }).catch((thrown: unknown) => {
    // If the element's frame is gone, the call fails. So an AppError other than a timeout means a missing element.
    if (!(thrown instanceof AppError) || thrown.code === 'upstream_timeout') throw thrown
  })
  if (objectId !== undefined) return { index, tab, frame: element.frame, objectId }
  throw new AppError('not_found', `Element ${index} is not on the page any more: read the state of the page again`)
}

/** Reads the position until two readings agree, at most `placeReadings` times more. Returns the point to click. */
async function findPoint(target: Target, signal: AbortSignal): Promise<Point> {
  const { frame: { session }, objectId, index } = target
  const options = { signal }
  const found = objectOf(await callOn(session, objectId, pointTo, [], options))
  if (found['problem'] !== undefined) throw refused(index, 'click', found)
  if (found['tag'] === 'SELECT') {
    throw refused(index, 'click', { problem: 'it is a drop-down list; choose by typing the text of an option' })
  }
  let last = await placeOf(target, options)
  for (let count = 0; count < placeReadings; count++) {
    await sleep(placeIntervalMs, signal)
    const place = await placeOf(target, options)
    if (place.x === last.x && place.y === last.y) break
    last = place
  }
  return { x: last.x + numberOrZero(found['x']), y: last.y + numberOrZero(found['y']) }
}

async function placeOf({ tab, frame: { session }, objectId }: Target, options: CallOptions): Promise<Point> {
  const frameSession = tab.sessions.find((one) => one.session.id === session.id)
  if (frameSession === undefined) {
    throw new AppError('not_found', 'The frame is not on the page any more: read the state of the page again')
  }
  const [corner, origin] = await Promise.all([cornerOf(session, objectId, options), originOf(frameSession, options)])
  return { x: corner.x + origin.x, y: corner.y + origin.y }
}

/** Calls `give`, which sends input to a page, then `settle`. Ignores an AppError of `give` if the tab has closed. */
async function giveInput(tab: Tab, give: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let refusal: AppError | undefined
  try {
    await give()
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown
    refusal = thrown
  }
  await tab.settle(signal)
  if (refusal !== undefined && !tab.hasEnded) throw refusal
}

async function press(session: CdpSession, { x, y }: Point, modifiers: number, signal: AbortSignal): Promise<void> {
  const button = { x, y, button: 'left', clickCount: 1, modifiers }
  await session.call('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y, modifiers }, { signal })
  await session.call('Input.dispatchMouseEvent', { type: 'mousePressed', ...button }, { signal })
  await session.call('Input.dispatchMouseEvent', { type: 'mouseReleased', ...button }, { signal })
}

async function insert(session: CdpSession, text: string, signal: AbortSignal): Promise<void> {
  if (text === '') await pressKey(session, 'Backspace', 8, '', signal)
  else await session.call('Input.insertText', { text }, { signal })
}

async function pressKey(
  session: CdpSession, key: string, code: number, text: string, signal: AbortSignal,
): Promise<void> {
  const common = { key, code: key, windowsVirtualKeyCode: code }
  await session.call(
    'Input.dispatchKeyEvent',
    { type: text === '' ? 'rawKeyDown' : 'keyDown', ...common, ...(text === '' ? {} : { text }) },
    { signal },
  )
  await session.call('Input.dispatchKeyEvent', { type: 'keyUp', ...common }, { signal })
}

function refused(index: number, verb: string, { problem }: Fields): AppError {
  return new PageRefusal(`Cannot ${verb} element ${index} for the reason that follows.`, lineOf(problem, 500))
}
