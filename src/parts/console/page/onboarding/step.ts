/** The context that each step of the onboarding gets. */
import type { ServerApi } from '../api.ts'

export interface StepContext {
  readonly api: ServerApi
  /** Aborted when the step is left. */
  readonly signal: AbortSignal
  /** Sets the function that a link to another step calls first. The function resolves to false when it cannot save. */
  readonly saveWith: (save: () => Promise<boolean>) => void
}

/** The key in `localStorage` that has a value once a person has completed or postponed the first steps. */
export const doneKey = 'agent-server-set-up'
/** The key in `localStorage` for the name of the last opened step; removed when the last step begins a conversation. */
export const stepKey = 'agent-server-step'
