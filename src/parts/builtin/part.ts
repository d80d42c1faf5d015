/** The part `builtin`: the agent that calls a model directly and works with tools. */
import { bytes } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'
import { toolNames } from './tools/tool-list.ts'

const options = {
  modelAnswerLimitBytes: bytes(16 * 1024 * 1024, "Answer of a model, in its provider's form"),
}

export const builtin = {
  name: 'builtin',
  about: 'The built-in agent: it calls a model directly and works with tools',
  options,
  routes: { 'POST /api/profiles/{name}/validate': 'configure' },
  offers: ['builtInAgent'],
  tools: async () => toolNames,
  resealFolder: async () => (await import('./tools/undo-history.ts')).resealFolder,
  spec: () => import('./spec.ts'),
  needs: [
    'config', 'environment', 'log', 'masker', 'clock', 'instanceId', 'secretFolder', 'cgroupParent', 'privateDirs',
    'vault', 'cipher', 'llmProfiles', 'use', 'offers',
  ],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
