/**
 * The server as it is, as a child: one conversation, filled without any agent.
 *
 * Its folder is a temporary one that is removed at the end. A message becomes two events: the message itself, of 1 KB,
 * and a short update of the state that names it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgentServer } from '../../src/index.ts'
import { answer } from './child.ts'

const key = 'a-key-that-only-this-benchmark-uses'
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(16)
/** How many messages are recorded together. */
const batch = 500

const folder = await mkdtemp(join(tmpdir(), 'bench-server-'))
const server = await createAgentServer({
  port: 0,
  dataDir: join(folder, 'data'),
  workspaceDir: join(folder, 'workspace'),
  sessionApiKeys: [key],
  subscriberLimit: 10_000,
})
const { port } = await server.listen()
const conversation = await server.createConversation()

answer(
  {
    where: () => ({ port, key, conversationId: conversation.id }),
    async fill(count) {
      for (let left = Number(count); left > 0; left -= batch) {
        await Promise.all(Array.from({ length: Math.min(batch, left) }, () => conversation.send(text, { run: false })))
      }
    },
  },
  async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  },
)
