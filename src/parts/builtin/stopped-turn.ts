/** Ends the work that a stopped or paused turn has left running: its hooks, and the programs of its tools. */
import type { Hooks } from '../../agents/hooks.ts'
import type { Tool } from '../../agents/tool.ts'
import { errorOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'

export interface StoppedTurn {
  readonly turn: { readonly signal: AbortSignal }
  readonly hooks: Pick<Hooks, 'endTurn'>
  readonly tools: readonly Tool[]
  readonly log: Log
}

/** Resolves when the work has ended. If a tool fails to end its programs, logs the error. */
export async function endStopped({ turn: { signal }, hooks, tools, log }: StoppedTurn): Promise<void> {
  await hooks.endTurn(signal)
  for (const tool of tools) {
    await tool.turnStopped?.(signal).catch((thrown: unknown) => {
      log.error('A tool could not end the programs of a stopped turn', { tool: tool.name, error: errorOf(thrown) })
    })
  }
}
