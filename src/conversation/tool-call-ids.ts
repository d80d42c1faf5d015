/**
 * The ids of the tool calls in a history, so that one that is used again can be told apart (decisions, 3).
 *
 * Only events that are actions are read, the newest first, page by page, so other work gets its turn. All branches count.
 */
import { isObject } from '../base/json.ts'
import { parseOwnJsonBytes } from '../base/json-turns.ts'
import type { ConversationLog } from '../storage/log.ts'
import { searchEvents } from './history.ts'

const pageLength = 100

/** At most `limit` ids, oldest first. */
export async function toolCallIds(log: ConversationLog, limit: number): Promise<readonly string[]> {
  const ids: string[] = []
  let pageId: string | undefined
  do {
    const page = await searchEvents(log, {
      kind: 'ActionEvent',
      newestFirst: true,
      limit: Math.min(pageLength, limit - ids.length),
      ...(pageId === undefined ? {} : { pageId }),
    })
    for (const json of page.items) {
      const event = await parseOwnJsonBytes(json)
      if (isObject(event) && typeof event['tool_call_id'] === 'string') ids.push(event['tool_call_id'])
    }
    pageId = page.nextPageId ?? undefined
  } while (pageId !== undefined && ids.length < limit)
  return ids.reverse()
}
