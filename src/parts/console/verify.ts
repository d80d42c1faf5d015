/** Checks the folder of every stored conversation (`verifyConversation`) for the page. One check runs at a time. */
import { join } from 'node:path'
import { ok } from '../../api/call.ts'
import { messageOf } from '../../base/errors.ts'
import type { StoredConversations } from '../../conversation/list/stored.ts'
import type { HttpResponse } from '../../http/reply.ts'
import { eventKinds } from '../../schema/generated/events.ts'
import { verifyConversation } from '../../storage/verify.ts'

const problemLimit = 100

export interface VerifyNeeds {
  readonly dataDir: string
  readonly conversations: Pick<StoredConversations, 'ids'>
}

interface Outcome {
  readonly conversations: number
  /** The first problem of each damaged conversation, as `<id>: <problem>`; at most `problemLimit`. */
  readonly problems: readonly string[]
}

/** Returns a function that checks all conversations. A call during a check gets the outcome of that check. */
export function createVerification(needs: VerifyNeeds): () => Promise<HttpResponse> {
  let running: Promise<Outcome> | undefined
  return async () => {
    running ??= verifyAll(needs).finally(() => (running = undefined))
    return ok(await running)
  }
}

async function verifyAll({ dataDir, conversations }: VerifyNeeds): Promise<Outcome> {
  const ids = conversations.ids()
  const problems: string[] = []
  for (const id of ids) {
    const found = await problemOf(join(dataDir, 'conversations', id))
    if (found !== undefined && problems.length < problemLimit) problems.push(`${id}: ${found}`)
  }
  return { conversations: ids.length, problems }
}

/** Returns the first problem of a conversation; undefined when it has no problem. */
async function problemOf(directory: string): Promise<string | undefined> {
  try {
    const { sound, issues: [issue] } = await verifyConversation({ directory, kinds: eventKinds })
    return sound ? undefined : `${issue?.file ?? 'events.jsonl'}: ${issue?.problem ?? 'damaged'}`
  } catch (thrown) {
    return messageOf(thrown)
  }
}
