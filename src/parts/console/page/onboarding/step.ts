/** The context that each of the first steps gets. */
import type { ServerApi } from '../api.ts'

export interface StepContext {
  readonly api: ServerApi
  /** Aborted when the step is left. */
  readonly signal: AbortSignal
}

/** The name in the browser's storage under which it is noted that the first steps were done or left. */
export const doneKey = 'agent-server-set-up'
