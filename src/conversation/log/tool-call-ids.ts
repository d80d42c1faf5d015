/**
 * Lists the ids of the tool calls in a history, to detect an id that an agent uses twice (decisions 3).
 *
 * Action events of all branches are read, page by page.
 */
import { isObject } from '../../base/json.ts'
import { parseOwnJsonBytes } from '../../base/json-turns.ts'
import type { EventReader } from './event-reader.ts'

const pageLength = 100

/** Returns the ids of the newest tool calls, at most `limit`, oldest first. */
export async function toolCallIds(events: EventReader, limit: number): Promise<readonly string[]> {
  const ids: string[] = []
  let pageId: string | undefined
  do {
    const page = await events.page({
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
