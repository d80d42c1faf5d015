/**
 * The result of a browser action. `said` is text that this server wrote. `page` is text from pages, including their
 * titles and addresses.
 *
 * `tools.ts` marks `page` as text of a page before a model reads it.
 */
import { AppError } from '../../base/errors.ts'
import type { Browser } from './browser.ts'
import type { Tab } from './tab.ts'

export interface Outcome {
  readonly said: string
  /** True when the action failed. The reason is in `said`, or in `page` if it quotes a page. Default: false. */
  readonly isError?: boolean
  readonly page?: string
  /** A screenshot as PNG in base64. */
  readonly screenshot?: string
  /** The folder with the files that the action saved. */
  readonly folder?: string
}

/** The failure of an action whose reason quotes the page. The reason is in `quoted`, not in the message. */
export class PageRefusal extends AppError {
  /** The reason. It becomes `Outcome.page`. */
  readonly quoted: string

  constructor(message: string, quoted: string) {
    super('conflict', message)
    this.quoted = quoted
  }
}

/** Calls `Browser.refresh`. Returns `said`, and the address and the title of the current page as `page`. */
export async function outcomeOn(browser: Browser, said: string, signal: AbortSignal): Promise<Outcome> {
  await browser.refresh({ signal })
  return { said, page: describeTab(browser.current) }
}

export function describeTab({ url, title }: Tab): string {
  return title === '' ? `URL: ${url}` : `URL: ${url}\nTitle: ${title}`
}
