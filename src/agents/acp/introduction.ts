/**
 * What the history tells of a program that was started: who drives the conversation, once, and what the user should know.
 *
 * A program may be started outside a turn, by a question beside the work; it is told of by the turn that comes next.
 */
import type { AgentHost, Turn } from '../../conversation/agent.ts'
import type { StartedSession } from './start-session.ts'

export class Introduction {
  readonly #host: Pick<AgentHost, 'mask' | 'clientTools'>
  #agentName: string | undefined
  readonly #notes = new Set<string>()

  constructor(host: Pick<AgentHost, 'mask' | 'clientTools'>) {
    this.#host = host
  }

  /** Notes what a start has to tell. `isFirst`: the conversation has had no session before. */
  add({ session, notes }: StartedSession, isFirst: boolean): void {
    if (isFirst) this.#agentName = session.agent.name
    for (const note of notes) this.#notes.add(note)
  }

  /** Records what was not told yet. */
  tell(turn: Turn): void {
    const { mask, clientTools } = this.#host
    if (this.#agentName !== undefined) {
      const who = `This conversation is driven by the external agent "${mask(this.#agentName)}".`
      const tools = clientTools.length === 0 ? '' : ` It is not given the tools of the client: ${clientTools.map(({ name }) => name).join(', ')}.`
      const text = `${who} Its system prompt and tools are not known here.${tools}`
      turn.record({ kind: 'SystemPromptEvent', system_prompt: { type: 'text', text }, tools: [] })
    }
    for (const note of this.#notes) {
      const content = [{ type: 'text', text: mask(note) } as const]
      turn.record({ kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content } })
    }
    this.#agentName = undefined
    this.#notes.clear()
  }
}
