/**
 * The server as it is, as a child, with one conversation that the talking agent drives.
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
})
const { port } = await server.listen()
const agent = { kind: 'ACPAgent', acp_server: 'custom', acp_command: [process.execPath, program] }
const conversation = await server.createConversation({ agent })

answer(
  {
    where: () => ({ port, key, conversationId: conversation.id }),
    prompt: (text) => conversation.send(String(text)),
  },
  async () => {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  },
)
