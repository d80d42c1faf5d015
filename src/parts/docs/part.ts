/** The part `docs`: a page that describes the REST interface for people. */
import type { Part, PartModule } from '../../part.ts'

export const docs = {
  name: 'docs',
  about: 'A page that describes the REST interface for people, made from the OpenAPI description',
  routes: {
    // Both pages show only the content of /openapi.json, which is open too.
    'GET /docs': 'open',
    'GET /redoc': 'open',
  },
  spec: () => import('./spec.ts'),
  needs: ['description'],
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
