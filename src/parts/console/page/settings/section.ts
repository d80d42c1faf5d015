/** The context that each section of the settings gets. */
import type { ServerApi } from '../api.ts'

export interface SectionContext {
  readonly api: ServerApi
  /** Aborted when the section is left. */
  readonly signal: AbortSignal
}
