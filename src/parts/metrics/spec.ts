/** The route `GET /metrics`, which returns the metrics of the server. */
import { ref, string, type Endpoint } from '../../schema/spec/define.ts'
import { get, inGroup, responseOf } from '../../schema/spec/operation.ts'

export const endpoints: readonly Endpoint[] = inGroup('Server Details', [
  { ...get('/metrics', 'Return the figures of the server for Prometheus', string), responses: {
    200: { doc: 'The text format of Prometheus, version 0.0.4', mediaType: 'text/plain' },
    404: responseOf('The server measures nothing', ref('ErrorDetail')),
  } },
])
