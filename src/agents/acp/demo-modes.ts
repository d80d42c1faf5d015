/**
 * The two session modes of the demonstration agent.
 *
 * In `ask`, which every session begins in, it asks before it changes or runs anything; in `open` it does not. They are what
 * a server maps its confirmation policy to. A client may read this file, which runs nothing, to know the agent's name and
 * modes: it is in no provider table.
 */
export type Mode = 'ask' | 'open'

/** As `session/new` lists them. */
export const modes: readonly { readonly id: Mode; readonly name: string; readonly description: string }[] = [
  { id: 'ask', name: 'Ask', description: 'Asks before it writes a file or runs a command' },
  { id: 'open', name: 'Open', description: 'Writes files and runs commands without asking' },
]

export function isMode(value: unknown): value is Mode {
  return value === 'ask' || value === 'open'
}

/** How the demonstration agent introduces itself. */
export const demoAgentName = 'agent-server-demo-agent'

/** What the provider table says of other agents. */
export const demoModes = { asking: 'ask', open: 'open', moreOpen: ['open'] } as const
