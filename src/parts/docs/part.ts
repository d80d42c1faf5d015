/** The part `docs`: a page that describes the REST interface for people. */
import type { Part, PartModule } from '../../part.ts'

export const docs = {
  name: 'docs',
  about: 'A page that describes the REST interface for people, made from the OpenAPI description',
  routes: {
    // The page shows only the content of /openapi.json, and that route is open too.
    'GET /docs': 'open',
    'GET /redoc': 'open',
  },
  spec: () => import('./spec.ts'),
  load: (): Promise<PartModule> => import('./start.ts'),
} as const satisfies Part
