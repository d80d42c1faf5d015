/** The part `absent`: responses about services that this server does not have. */
import type { Part, PartModule } from '../../part.ts'

export const absent = {
  name: 'absent',
  about: 'Says that there are no automations, no apps, no editor and no desktop, where published clients ask',
  routes: {
    'GET /api/automation/health': 'read',
    'GET /api/automation/sdk-version': 'read',
    'GET /api/automation/v1': 'read',
    'POST /api/automation/v1/telemetry/consent': 'read',
    'GET /api/canvas-extensions/installed': 'read',
    'GET /api/vscode/status': 'read',
    'GET /api/vscode/url': 'read',
    'GET /api/desktop/url': 'read',
  },
  spec: () => import('./spec.ts'),
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
