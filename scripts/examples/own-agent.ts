/**
 * A host's own agent: answers questions about prices from a table, without a model and without a program of its own.
 *
 * Its conversations have the features of all conversations: a durable history, REST and WebSocket, approval, several
 * readers.
 * Run: node own-agent.ts [FOLDER]
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError, createAgentServer, type Agent, type Turn, type TurnEnd } from 'agent-server'

const prices = new Map([['apples', 3], ['pears', 4]])

class PriceAgent implements Agent {
  async runTurn(turn: Turn): Promise<TurnEnd> {
    for (const { id, llm_message: { content } } of turn.messages) {
      // A real agent passes `turn.signal` to every call that it awaits, and returns `stopped` when the signal is
      // aborted.
      if (turn.signal.aborted) return { outcome: 'stopped', served: false }
      const asked = content.map((part) => (part.type === 'text' ? part.text : '')).join(' ').toLowerCase()
      const found = [...prices].filter(([name]) => asked.includes(name))
      const text = found.map(([name, price]) => `${name}: ${price} crowns`).join(', ') || 'I know apples and pears.'
      turn.delta({ content: text })
      turn.record({
        kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', content: [{ type: 'text', text }] },
      })
      turn.served(id)
    }
    return { outcome: 'finished', served: true }
  }

  // This agent changes nothing, so the confirmation policy does not concern it.
  policyChanged(): void {}

  async askAside(): Promise<never> {
    throw new AppError('bad_request', 'The price agent answers only in conversations')
  }

  async close(): Promise<void> {}
}

const folder = process.argv[2] ?? await mkdtemp(join(tmpdir(), 'own-agent-'))
const server = await createAgentServer({
  dataDir: join(folder, 'data'),
  workspaceDir: join(folder, 'work'),
  agent: () => new PriceAgent(),
})
const conversation = await server.createConversation({ agent: { kind: 'Agent', llm: { model: 'none' } } })
await conversation.send('What are apples and pears?')
const status = await conversation.ended()
if (status !== 'finished') throw new Error(`The conversation is ${status}`)
console.log(await conversation.finalResponse())
await server.close()
