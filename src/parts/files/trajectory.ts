/**
 * Sends a conversation as a zip archive: a file about the conversation, and a file for each of its events
 * (contract/others.md, section 2).
 */
import { conversationIdOf, type Call } from '../../api/call.ts'
import { writeZip, zipType, type ZipEntry } from './zip.ts'
import { parseOwnJson, type JsonObject } from '../../base/json.ts'
import { objectOf } from '../../base/fields.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import { attachment, sendPieces } from '../../http/pieces.ts'
import type { HttpResponse } from '../../http/reply.ts'

export interface TrajectoryParts {
  readonly conversations: StoredConversations
  readonly stallTimeoutMs: number
}

/** Sends the conversation of the request as a zip archive. @throws AppError `not_found` */
export async function downloadTrajectory(
  { conversations, stallTimeoutMs }: TrajectoryParts, call: Call,
): Promise<HttpResponse> {
  const id = conversationIdOf(call)
  const info = await conversations.info(id)
  const entries = entriesOf(info, conversations.events(id))
  return sendPieces(writeZip(entries), { type: zipType, headers: attachment(`conversation-${id}.zip`), stallTimeoutMs })
}

async function* entriesOf(info: JsonObject, events: AsyncIterable<Buffer>): AsyncGenerator<ZipEntry, void> {
  yield { name: 'conversation.json', bytes: Buffer.from(JSON.stringify(info, undefined, 2)) }
  let number = 0
  for await (const json of events) {
    const { id } = objectOf(parseOwnJson(json.toString('utf8')))
    yield { name: `events/event-${String(number++).padStart(5, '0')}-${String(id)}.json`, bytes: json }
  }
}
