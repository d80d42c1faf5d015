/** The context that each step of the onboarding gets. */
import type { ServerApi } from '../api.ts'

export interface StepContext {
  readonly api: ServerApi
  /** Aborted when the step is left. */
  readonly signal: AbortSignal
  /** Sets the function that saves the input when a link to another step is clicked. It resolves to false on failure. */
  readonly saveWith: (save: () => Promise<boolean>) => void
}

/** The key in `localStorage` that has a value once a person has completed or postponed the first steps. */
export const doneKey = 'agent-server-set-up'
/** The key in `localStorage` for the name of the last opened step; removed when the last step begins a conversation. */
export const stepKey = 'agent-server-step'
