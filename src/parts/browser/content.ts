/**
 * Reads the text of a page as Markdown, in pieces of at most `pieceChars` characters. The texts of inner frames follow
 * the text of the page.
 */
import { AppError } from '../../base/errors.ts'
import type { Browser } from './browser.ts'
import { lineOf, textOrEmpty } from './fields.ts'
import { callIn, listFrames } from './frames.ts'
import type { Outcome } from './outcome.ts'
import { readMarkdown } from './page/markdown.ts'

const pieceChars = 30_000
const totalChars = 2_000_000
const scriptLimits = { timeMs: 5000, depth: 400 }

export interface ContentRequest {
  readonly withLinks: boolean
  readonly startFromChar: number
}

/**
 * Returns a piece of the page's text as Markdown, from the character `startFromChar` on.
 * @throws AppError `invalid_input` when `startFromChar` is above 0 and not before the end of the text,
 * `upstream_failed` after a crash of the tab; the errors of `listFrames` and `callIn`
 */
export async function readContent(
  browser: Browser, { withLinks, startFromChar }: ContentRequest, signal: AbortSignal,
): Promise<Outcome> {
  const { text, isComplete } = await readAll(browser, withLinks, signal)
  if (startFromChar > 0 && startFromChar >= text.length) {
    throw new AppError('invalid_input', `Cannot read from character ${startFromChar}: the content has ${text.length}`)
  }
  const end = Math.min(text.length, startFromChar + pieceChars)
  const rest = end < text.length ? `; read on with start_from_char ${end}` : ''
  const cut = isComplete ? '' : ' The page has more than can be read.'
  return {
    said: `Characters ${startFromChar} to ${end} of ${text.length}${rest}.${cut}`,
    page: text.slice(startFromChar, end),
  }
}

async function readAll(
  browser: Browser, withLinks: boolean, signal: AbortSignal,
): Promise<{ text: string; isComplete: boolean }> {
  const tab = browser.current
  tab.assertAlive()
  const parts: string[] = []
  let left = totalChars
  let isComplete = true
  for (const [index, frame] of (await listFrames(tab.sessions, { signal })).entries()) {
    const found = await callIn(frame, readMarkdown, [{ ...scriptLimits, chars: left }, withLinks], { signal }).catch(
      (thrown: unknown) => {
        // An AppError of an inner frame is ignored: the frame may have disappeared. Any other error is thrown.
        if (index === 0 || !(thrown instanceof AppError)) throw thrown
      },
    )
    const text = textOrEmpty(found?.['text']).slice(0, left)
    left -= text.length
    isComplete &&= found === undefined || found['isComplete'] === true
    if (index === 0) {
      parts.push(`URL: ${lineOf(found?.['url'], 2000)}\nTitle: ${lineOf(found?.['title'], 200)}\n\n${text}`)
    }
    else if (text !== '') parts.push(`In the frame ${lineOf(frame.url, 200)}:\n\n${text}`)
  }
  return { text: parts.join('\n\n'), isComplete }
}
