/**
 * The work of the bots of this folder, without a web framework: the agent server, one conversation for each user, and
 * one answer for each question.
 */
import { join } from 'node:path'
import { createAgentServer, type AgentServer, type ConversationHandle } from 'agent-server'

/** Opens an agent server that the web server mounts below /agents. Its clients send SESSION_KEY. */
export function openAgents(folder: string): Promise<AgentServer> {
  return createAgentServer({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'work'),
    basePath: '/agents',
    sessionApiKeys: [process.env['SESSION_KEY'] ?? ''],
    environment: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  })
}

export class Bot {
  readonly #server: AgentServer
  readonly #conversations = new Map<string, Promise<ConversationHandle>>()

  constructor(server: AgentServer) {
    this.#server = server
  }

  /** Returns the answer to a question. The signal ends the wait: the agent goes on. Throws for a run without an end. */
  async ask(user: string, question: string, signal: AbortSignal): Promise<string> {
    const conversation = await this.#conversationOf(user)
    await conversation.send(question)
    const status = await conversation.ended(signal)
    if (status === 'finished') return conversation.finalResponse()
    throw new Error(`The agent gave no answer: the conversation is ${status}`)
  }

  #conversationOf(user: string): Promise<ConversationHandle> {
    const known = this.#conversations.get(user) ?? this.#server.createConversation({ tags: { user } })
    this.#conversations.set(user, known)
    known.catch(() => this.#conversations.delete(user))
    return known
  }
}
