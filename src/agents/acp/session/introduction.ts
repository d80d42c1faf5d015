/**
 * Records notes about the start of an agent's program, and a SystemPromptEvent for a conversation's first session.
 *
 * Events are recorded only in turns. After a start for an aside, the next turn with a prompt records them.
 */
import type { Turn } from '../../../conversation/agent/agent.ts'
import type { AgentHost } from '../../../conversation/agent/host.ts'
import { asks } from './permissions.ts'
import type { StartedSession } from './start-session.ts'

export interface IntroductionOptions extends Pick<AgentHost, 'clientTools' | 'policy'> {
  readonly mask: (text: string) => string
  /** The setting `acp_unasked_calls`. */
  readonly onUnasked: 'stop' | 'allow'
}

export class Introduction {
  readonly #options: IntroductionOptions
  #first: StartedSession | undefined
  readonly #notes = new Set<string>()

  constructor(options: IntroductionOptions) {
    this.#options = options
  }

  /** Stores the notes of a start for the next `tell`. If `isFirst` is true, `tell` also records a SystemPromptEvent. */
  add(started: StartedSession, isFirst: boolean): void {
    if (isFirst) this.#first = started
    for (const note of started.notes) this.#notes.add(note)
  }

  /** Records a SystemPromptEvent for the session that `add` stored, if any, then the stored notes. Forgets both. */
  tell(turn: Turn): void {
    const { mask, clientTools } = this.#options
    if (this.#first !== undefined) {
      const { session } = this.#first
      const who = `This conversation is driven by the external agent "${session.agent.name}".`
      const names = clientTools.map(({ name }) => name).join(', ')
      const tools = names === '' ? '' : ` It is not given the tools of the client: ${names}.`
      const text = mask(`${who} Its system prompt and tools are not known here.${tools} ${this.#approval(session)}`)
      turn.record({ kind: 'SystemPromptEvent', system_prompt: { type: 'text', text }, tools: [] })
    }
    for (const note of this.#notes) {
      const content = [{ type: 'text', text: mask(note) } as const]
      turn.record({ kind: 'MessageEvent', source: 'environment', llm_message: { role: 'user', content } })
    }
    this.#first = undefined
    this.#notes.clear()
  }

  /** Returns a text about approval, for example in which mode the agent is and what it does without questions. */
  #approval({ mode, runsUnasked }: StartedSession['session']): string {
    const inMode = mode === undefined ? 'The agent has no modes' : `The agent is in the mode "${mode}"`
    if (!asks(this.#options.policy())) {
      return `${inMode} and asks nobody: the confirmation policy lets it do everything. Nothing confines what it does.`
    }
    const rests = `${inMode}; approval rests on that and on the questions that it asks. ${unaskedWords(runsUnasked)}`
    const then = this.#options.onUnasked === 'stop' ? 'stops the turn' : 'is marked in agent_state (acp_unasked)'
    const other = `Any other command or change that it reports and did not ask about ${then}.`
    return `${rests} ${other} Nothing confines what it does.`
  }
}

function unaskedWords(commands: readonly string[]): string {
  const free = 'It reads, searches and thinks without asking'
  if (commands.includes('*')) return `${free}, and runs commands in a sandbox of its own.`
  return commands.length === 0 ? `${free}.` : `${free}, and runs these commands: ${commands.join(', ')}.`
}
