/**
 * The two session modes of the demonstration agent, which is not in the provider table (settings/providers-table). A
 * session starts in the mode `ask`.
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

/** The modes of the demonstration agent in the form of the provider table. */
export const demoModes = { asking: 'ask', open: 'open', moreOpen: ['open'] } as const
