/**
 * Adds the stored conversations to the listing when the server starts.
 *
 * A conversation that cannot be read is logged and not listed.
 */
import { errorOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Conversation } from '../conversation.ts'
import { peekState } from '../log/state-cache.ts'
import { isEnded } from '../log/status-table.ts'
import { entryOf, type Listing } from './listing.ts'

export interface Starting {
  readonly listing: Listing
  readonly pathOf: (id: string) => string
  readonly open: (directory: string) => Promise<Conversation>
  readonly diagnostics: Log
}

/** Number of conversations that are read at the same time. */
const concurrency = 16

/**
 * Adds the conversations `ids` to the listing, and empties `ids`. Returns false when a conversation cannot be served.
 */
export async function listStored(ids: string[], starting: Starting): Promise<boolean> {
  const started = await Promise.all(Array.from({ length: concurrency }, () => listSome(ids, starting)))
  return !started.includes(false)
}

async function listSome(ids: string[], starting: Starting): Promise<boolean> {
  let areAllListed = true
  for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
    try {
      areAllListed = (await listOne(id, starting)) && areAllListed
    } catch (thrown) {
      areAllListed = false
      const about = { conversation_id: id, error: errorOf(thrown) }
      starting.diagnostics.error('A conversation could not be read and is not served', about)
    }
  }
  return areAllListed
}

/**
 * Adds a conversation to the listing: from its state cache if the cache shows no run, otherwise by opening it. Returns
 * false when the folder holds another conversation.
 */
async function listOne(id: string, { listing, pathOf, open }: Starting): Promise<boolean> {
  const directory = pathOf(id)
  const cached = await peekState(directory)
  if (cached !== undefined && cached.id === id && isEnded(cached.execution_status)) {
    listing.set(entryOf(cached))
    return true
  }
  const conversation = await open(directory)
  if (conversation.id === id) listing.set(entryOf(conversation.state))
  await conversation.close()
  return conversation.id === id
}
