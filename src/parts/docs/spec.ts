/** The operations of the part `docs`: each returns the page that describes the REST interface. */
import { string, type Endpoint } from '../../schema/spec/define.ts'
import { get, inGroup } from '../../schema/spec/operation.ts'

export const endpoints: readonly Endpoint[] = inGroup('Server Details', [
  ...['/docs', '/redoc'].map((path) => ({ ...get(path, 'Describe the interface for people', string), responses: {
    200: { doc: 'A page', mediaType: 'text/html' },
  } })),
])
