/** The part `metrics`: measured values of the server in the format of Prometheus, and the access log. */
import { optionalText, toggle } from '../../option.ts'
import type { Part, PartModule } from '../../part.ts'

export const options = {
  metrics: toggle({ group: 'Network', help: 'Serve figures for Prometheus at /metrics' }),
  accessLog: optionalText({
    group: 'Log',
    help: 'File that gets a line for each request; "-": standard output. SIGHUP opens a file again',
    placeholder: 'PATH|-',
    expected: 'an absolute path, or "-" for standard output',
    pattern: /^(?:-|\/[^\0]+)$/,
  }),
}

export const metrics = {
  name: 'metrics',
  about: 'Figures of the server for Prometheus, and the access log',
  options,
  routes: { 'GET /metrics': 'metrics' },
  startsWhen: (values) => values['metrics'] === true || values['accessLog'] !== undefined,
  spec: () => import('./spec.ts'),
  needs: ['config', 'clock', 'dataDir', 'load', 'logFiles', 'masker', 'traffic'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
