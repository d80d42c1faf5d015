/** Waits for the end of the runs of all conversations, for a server that is about to end. */
import type { Conversation } from '../conversation.ts'

/** Resolves when each run with the status `running` has ended. Skips a run that already waits for a confirmation. */
export async function runsEnd(opened: () => readonly Conversation[]): Promise<void> {
  for (;;) {
    const runs = opened().filter(({ isRunning, state }) => isRunning && state.execution_status === 'running')
    if (runs.length === 0) return
    await Promise.all(runs.map((conversation) => conversation.nextEnd()))
  }
}
