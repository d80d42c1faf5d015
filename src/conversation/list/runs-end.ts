/** Waits for the end of the runs of all conversations, for a server that is about to end. */
import type { Conversation } from '../conversation.ts'

/** Resolves when no run is at work. A run that waits for a confirmation does not count. */
export async function runsEnd(opened: () => readonly Conversation[]): Promise<void> {
  for (;;) {
    const runs = opened().filter(({ isRunning, state }) => isRunning && state.execution_status === 'running')
    if (runs.length === 0) return
    await Promise.all(runs.map((conversation) => conversation.nextEnd()))
  }
}
