/** The part `lookups`: secrets of the kind `LookupSecret`, fetched from their addresses. */
import type { Part, PartModule } from '../../part.ts'

export const lookups = {
  name: 'lookups',
  about: 'Fetches secrets of the kind LookupSecret from their addresses when an agent needs them',
  offers: ['fetchText'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
