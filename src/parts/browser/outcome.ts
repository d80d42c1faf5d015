/**
 * What a browser action has to say: in our own words, and, apart from them, in the page's.
 *
 * Everything in `page` was chosen by whoever made the page, titles and addresses included. It is for the tool to mark
 * it as such before a model reads it.
 */
import type { Browser } from './browser.ts'
import type { Tab } from './tab.ts'

export interface Outcome {
  readonly said: string
  /** It could not be done, as `said` says. */
  readonly isError?: boolean
  readonly page?: string
  /** PNG, base64. */
  readonly screenshot?: string
  /** Where files were saved. */
  readonly folder?: string
}

/** What was done, and the page on which it ended. */
export async function outcomeOn(browser: Browser, said: string, signal: AbortSignal): Promise<Outcome> {
  await browser.refresh({ signal })
  return { said, page: describeTab(browser.current) }
}

export function describeTab({ url, title }: Tab): string {
  return title === '' ? `URL: ${url}` : `URL: ${url}\nTitle: ${title}`
}
