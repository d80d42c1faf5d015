/**
 * The server as it is, as a child, with conversations that talking agents drive: one, or as many as its first argument
 * says. The second is the folder of the pipes through which they talk; without it each is a program that talks itself.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAgentServer } from '../../src/index.ts'
import { answer } from './child.ts'
import { pipedAgent } from './piped-agent.ts'

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
const [, , count = 1, pipes] = process.argv
const commands = Array.from({ length: Number(count) }, (_, index) => {
  return pipes === undefined ? [process.execPath, program] : pipedAgent(pipes, index)
})
const conversations = await Promise.all(commands.map((command) => {
  return server.createConversation({ agent: { kind: 'ACPAgent', acp_server: 'custom', acp_command: command } })
}))

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
