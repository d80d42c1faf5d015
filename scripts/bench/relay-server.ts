/**
 * The server as it is, as a child, with conversations that talking agents drive: one, or as many as its argument says.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgentServer } from '../../src/index.ts'
import { answer } from './child.ts'

const key = 'a-key-that-only-this-benchmark-uses'
const program = fileURLToPath(new URL(`relay-agent${/\.\w+$/.exec(import.meta.url)?.[0]}`, import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'bench-relay-'))
const server = await createAgentServer({
  port: 0,
  dataDir: join(folder, 'data'),
  workspaceDir: join(folder, 'workspace'),
  sessionApiKeys: [key],
  agentLimit: 1000,
})
const { port } = await server.listen()
const agent = { kind: 'ACPAgent', acp_server: 'custom', acp_command: [process.execPath, program] }
const count = Number(process.argv[2] ?? 1)
const conversations = await Promise.all(Array.from({ length: count }, () => server.createConversation({ agent })))

answer(
  {
    where: () => ({ port, key, paths: conversations.map(({ id }) => `/sockets/events/${id}`) }),
    prompt: (text) => Promise.all(conversations.map((conversation) => conversation.send(String(text)))),
  },
  async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  },
)
