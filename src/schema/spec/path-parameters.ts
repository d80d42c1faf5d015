/** The schemas of path parameters of the core that are not plain strings, for the OpenAPI description. */
import { ref, stringOf, type Schema } from './define.ts'
import { secretName } from './secrets.ts'

/** The schemas by parameter name, or by the whole path where other paths use that name for another parameter. */
export const pathParameters: Readonly<Record<string, Schema>> = {
  conversation_id: { type: 'string', format: 'uuid' },
  '/api/profiles/{name}': ref('ProfileName'),
  '/api/settings/secrets/{name}': stringOf({ pattern: secretName }),
}
