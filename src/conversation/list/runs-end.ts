/** Waits for the end of the runs of all conversations, for a server that is about to end. */
import { within } from '../../base/wait.ts'
import type { Conversation } from '../conversation.ts'

const lookMs = 500

/** Resolves when each run with the status `running` has ended. Skips a run that already waits for a confirmation. */
export async function runsEnd(opened: () => readonly Conversation[]): Promise<void> {
  for (;;) {
    const runs = opened().filter(({ isRunning, state }) => isRunning && state.execution_status === 'running')
    if (runs.length === 0) return
    // A run that begins to wait for a confirmation has not ended, so look again after a time.
    await within(Promise.all(runs.map((conversation) => conversation.nextEnd())), lookMs)
  }
}
