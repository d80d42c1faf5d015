/**
 * Going somewhere: to an address, back, and from tab to tab.
 */
import { AppError } from '../base/errors.ts'
import { parseAddress } from './address.ts'
import type { Browser } from './browser.ts'
import { numberOf, objectsOf } from './fields.ts'
import { describeTab, outcomeOn, type Outcome } from './outcome.ts'
import type { Tab } from './tab.ts'

/** How long the first byte of a page may take. */
const navigationLimitMs = 30_000

/** @throws AppError `invalid_input`, `address_refused`, `upstream_failed`, `upstream_timeout` */
export async function navigate(browser: Browser, { url, newTab }: { url: string, newTab: boolean }, signal: AbortSignal): Promise<Outcome> {
  const address = parseAddress(url, browser.allowed)
  const tab = newTab ? await browser.openTab(signal) : browser.current
  await tab.navigate(address, { signal, timeoutMs: navigationLimitMs })
  return outcomeOn(tab, `The address was opened in tab ${tab.id}.`)
}

/** @throws AppError `conflict` when there is nothing to go back to */
export async function goBack(browser: Browser, signal: AbortSignal): Promise<Outcome> {
  const tab = browser.current
  const { currentIndex, entries } = await tab.session.call('Page.getNavigationHistory', {}, { signal })
  const entry = objectsOf(entries)[numberOf(currentIndex) - 1]
  if (entry === undefined) throw new AppError('conflict', 'Cannot go back: there is no page before this one')
  await tab.session.call('Page.navigateToHistoryEntry', { entryId: numberOf(entry['id']) }, { signal })
  await tab.settle(signal)
  return outcomeOn(tab, 'Went back by one page.')
}

export function listTabs(browser: Browser): Outcome {
  const list = browser.tabs.map((tab) => describeInList(tab, tab === browser.current))
  return { said: `${list.length === 1 ? 'There is 1 tab' : `There are ${list.length} tabs`}; the current one is ${browser.current.id}.`, page: list.join('\n') }
}

/** @throws AppError `not_found` */
export async function switchTab(browser: Browser, id: string, signal: AbortSignal): Promise<Outcome> {
  const tab = browser.tab(id)
  await browser.switchTo(tab, { signal })
  return outcomeOn(tab, `Tab ${tab.id} is the current one now.`)
}

/** @throws AppError `not_found` */
export async function closeTab(browser: Browser, id: string, signal: AbortSignal): Promise<Outcome> {
  const tab = browser.tab(id)
  await browser.closeTab(tab, signal)
  return outcomeOn(browser.current, `Tab ${tab.id} was closed. The current tab is ${browser.current.id}.`)
}

function describeInList(tab: Tab, isCurrent: boolean): string {
  return `${tab.id}${isCurrent ? ' (current)' : ''}: ${describeTab(tab).replace('\n', ', ')}`
}
