/**
 * The server as it is, as a child, on the folder of its argument: makes conversations without an agent, and opens them.
 * A message becomes two events: the message itself, of 1 KB, and a short update of the state that names it.
 */
import { join } from 'node:path'
import { isObject } from '../../src/base/json.ts'
import { createAgentServer } from '../../src/index.ts'
import { answer } from './child.ts'

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(16)
const atOnce = 50
const [, , folder = ''] = process.argv
const server = await createAgentServer({ dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') })

answer(
  {
    /** Makes conversations, each with so many messages. */
    async fill(wanted) {
      const { conversations, messages } = isObject(wanted) ? wanted : {}
      await inTurns(Number(conversations), async () => {
        const conversation = await server.createConversation()
        for (let left = Number(messages); left > 0; left--) await conversation.send(text, { run: false })
      })
    },
    /** Opens all conversations and reads the newest page of each, or all with `whole`. Returns the number of events. */
    async open(how) {
      const ids: string[] = []
      for (let pageId: string | null | undefined; pageId !== null;) {
        const page = await server.conversations({ limit: 100, pageId })
        ids.push(...page.items.map(({ id }) => id))
        pageId = page.nextPageId
      }
      let events = 0
      await inTurns(ids.length, async (at) => {
        const conversation = await server.conversation(ids[at] ?? '')
        let pageId: string | null | undefined
        do {
          const page = await conversation.events({ newestFirst: true, limit: 100, pageId })
          events += page.items.length
          pageId = how === 'whole' ? page.nextPageId : null
        } while (pageId !== null)
      })
      return events
    },
  },
  () => server.close(),
)

/** Calls `work` with 0 to `count` - 1, some at the same time. */
async function inTurns(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let at = next++; at < count; at = next++) await work(at)
  }))
}
