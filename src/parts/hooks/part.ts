/** The part `hooks`: commands of a request or a plugin that run at six points of the built-in agent's work. */
import type { Part, PartModule } from '../../part.ts'

export const hooks = {
  name: 'hooks',
  about: "Commands of a request at six points of the built-in agent's work",
  offers: ['hooks'],
  needs: ['config', 'environment', 'instanceId', 'cgroupParent'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
