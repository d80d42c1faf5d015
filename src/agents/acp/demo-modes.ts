/**
 * The two session modes of the demonstration agent. The server reads the agent's name and modes from here, because the
 * provider table has no entry for this agent.
 *
 * A new session is in the mode `ask`: the agent asks before it changes or runs anything. In `open` it never asks. The
 * confirmation policy decides which mode the server sets.
 */
export type Mode = 'ask' | 'open'

export const modes: readonly { readonly id: Mode; readonly name: string; readonly description: string }[] = [
  { id: 'ask', name: 'Ask', description: 'Asks before it writes a file or runs a command' },
  { id: 'open', name: 'Open', description: 'Writes files and runs commands without asking' },
]

export function isMode(value: unknown): value is Mode {
  return value === 'ask' || value === 'open'
}

/** The name of the demonstration agent in `initialize`. */
export const demoAgentName = 'agent-server-demo-agent'

/** The modes of this agent in the form of the provider table. */
export const demoModes = { asking: 'ask', open: 'open', moreOpen: ['open'] } as const
