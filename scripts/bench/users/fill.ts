/**
 * Fills the folders of a server that does not run, as a child: conversations with an agent that never waits
 * (relay-agent). Its message, tool call and result follow each other in turn, each an event of half a kilobyte. Many
 * conversations get messages of the user alone, which need no agent. The argument is the folder of the server.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../../src/base/json.ts'
import { createAgentServer, type AgentServer } from '../../../src/index.ts'
import { answer, besideThis } from '../child.ts'
import { placesIn } from './server.ts'

const conversationsAtOnce = 20
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(16)
/** Of one turn: an agent that sends more than the log can take is slowed down. */
const eventsPerTurn = 10_000

const [, , folder = ''] = process.argv
const { data, workspace } = placesIn(folder)
const server = await createAgentServer({ dataDir: data, workspaceDir: workspace })
const command = [process.execPath, fileURLToPath(besideThis('relay-agent'))]

answer(
  {
    /** Makes a conversation of so many events, besides the events of its beginning and end; answers with its id. */
    long: (events) => talk(server, Number(events)),
    /** Makes conversations of so many messages, each two events; answers with the ids. */
    async fill(wanted) {
      const { conversations, messages } = isObject(wanted) ? wanted : {}
      const ids: string[] = []
      let left = Number(conversations)
      const fillSome = async (): Promise<void> => {
        while (left-- > 0) ids.push(await write(server, Number(messages)))
      }
      await Promise.all(Array.from({ length: conversationsAtOnce }, fillSome))
      return ids
    },
  },
  () => server.close(),
)

async function talk(to: AgentServer, events: number): Promise<string> {
  const agent = { kind: 'ACPAgent' as const, acp_server: 'custom' as const, acp_command: command }
  const conversation = await to.createConversation({ agent, autotitle: false })
  for (let left = events; left > 0; left -= eventsPerTurn) {
    await conversation.send(`burst ${Math.min(left, eventsPerTurn)}`)
    while ((await conversation.summary()).status !== 'finished') await pause(20)
  }
  return conversation.id
}

async function write(to: AgentServer, messages: number): Promise<string> {
  const conversation = await to.createConversation({ autotitle: false })
  await Promise.all(Array.from({ length: messages }, () => conversation.send(text, { run: false })))
  return conversation.id
}
