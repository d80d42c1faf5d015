/** The context that each of the first steps gets. */
import type { ServerApi } from '../api.ts'

export interface StepContext {
  readonly api: ServerApi
  /** Aborted when the step is left. */
  readonly signal: AbortSignal
}

/** The key in `localStorage` that has a value once a person has completed or left the first steps. */
export const doneKey = 'agent-server-set-up'
