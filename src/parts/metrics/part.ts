/** The part `metrics`: measured values of the server for operators, in the format of Prometheus. */
import { toggle } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

export const options = {
  metrics: toggle({ group: 'Network', help: 'Serve figures for Prometheus at /metrics' }),
}

export const metrics = {
  name: 'metrics',
  about: 'Figures of the server for Prometheus',
  options,
  routes: { 'GET /metrics': 'metrics' },
  startsWhen: (values) => values['metrics'] === true,
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
