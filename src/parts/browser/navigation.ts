/**
 * Opens addresses, goes back, and lists, switches and closes tabs.
 *
 * Each exported function but `listTabs` also throws the errors of `CdpConnection.call`.
 */
import { AppError } from '../../base/errors.ts'
import { parseAddress } from './address.ts'
import type { Browser } from './browser.ts'
import { objectsOf } from '../../base/fields.ts'
import { numberOrZero } from './fields.ts'
import { describeTab, outcomeOn, type Outcome } from './outcome.ts'
import type { Tab } from './tab.ts'

/** The longest time to wait for the response to a navigation. */
const navigationLimitMs = 30_000

/** Opens an address. @throws AppError `invalid_input`, `address_refused`, `conflict` when there are too many tabs */
export async function navigate(
  browser: Browser, { url, newTab }: { url: string; newTab: boolean }, signal: AbortSignal,
): Promise<Outcome> {
  const address = parseAddress(url, browser.allowed)
  const tab = newTab ? await browser.openTab(signal) : await livingTab(browser, signal)
  await tab.navigate(address, { signal, timeoutMs: navigationLimitMs })
  return outcomeOn(browser, `The address was opened in tab ${tab.id}.`, signal)
}

/** Goes back in the history of the current tab. @throws AppError `conflict` at the first page */
export async function goBack(browser: Browser, signal: AbortSignal): Promise<Outcome> {
  const tab = browser.current
  const { currentIndex, entries } = await tab.session.call('Page.getNavigationHistory', {}, { signal })
  const entry = objectsOf(entries)[numberOrZero(currentIndex) - 1]
  if (entry === undefined) throw new AppError('conflict', 'Cannot go back: there is no page before this one')
  await tab.session.call('Page.navigateToHistoryEntry', { entryId: numberOrZero(entry['id']) }, { signal })
  await tab.settle(signal)
  return outcomeOn(browser, 'Went back by one page.', signal)
}

export function listTabs(browser: Browser): Outcome {
  const list = browser.tabs.map((tab) => describeInList(tab, tab === browser.current))
  return {
    said: `${list.length === 1 ? 'There is 1 tab' : `There are ${list.length} tabs`}; the current one is ` +
      `${browser.current.id}.`,
    page: list.join('\n'),
  }
}

/** Makes the tab with this id the current tab. @throws AppError `not_found` */
export async function switchTab(browser: Browser, id: string, signal: AbortSignal): Promise<Outcome> {
  const tab = browser.tab(id)
  await browser.switchTo(tab, { signal })
  return outcomeOn(browser, `Tab ${tab.id} is the current one now.`, signal)
}

/** Closes the tab with this id. @throws AppError `not_found` */
export async function closeTab(browser: Browser, id: string, signal: AbortSignal): Promise<Outcome> {
  const tab = browser.tab(id)
  await browser.closeTab(tab, signal)
  return outcomeOn(browser, `Tab ${tab.id} was closed. The current tab is ${browser.current.id}.`, signal)
}

/** Returns the current tab. If its page does not answer, returns a new tab instead and closes the old tab. */
async function livingTab(browser: Browser, signal: AbortSignal): Promise<Tab> {
  const tab = browser.current
  if (await tab.answers(signal)) return tab
  const other = await browser.openTab(signal)
  await browser.closeTab(tab, signal)
  other.note(`The page in tab ${tab.id} did not answer any more; the tab was closed, and tab ${other.id} opened.`)
  return other
}

function describeInList(tab: Tab, isCurrent: boolean): string {
  return `${tab.id}${isCurrent ? ' (current)' : ''}: ${describeTab(tab).replace('\n', ', ')}`
}
